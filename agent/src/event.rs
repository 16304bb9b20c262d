//! [`Event`]: the progress of a run, sent to an [`EventSink`].

use serde::Serialize;
use tools::{ErrorCode, Json, Progress, ProtectedFile, Target, ToolName, ToolResult};

use crate::compacted::Compacted;
use crate::consent::ApprovalRequest;
use crate::plan::PlanItem;
use crate::prefix::PrefixChange;
use crate::provider::{FailureKind, RequestRetry};
use crate::run::Summary;

/// A step in the progress of a run. Serialised, it has its name as `type`.
///
/// Only this order is guaranteed:
/// - `Started` comes first, then `PrefixChanged`, each at most once.
/// - `Compacted` precedes the texts of its turn.
/// - The retries of a request precede the texts of its turn. A retry can withdraw the texts before it. The texts precede
///   the starts of its calls, which are in the order of the calls.
/// - `ModelChanged` follows the retries of the failed request, and precedes the texts of the turn. It can withdraw texts, too.
/// - `Steered` precedes the texts of its turn. It follows all results of the turn before, or the texts of an answer, which then does not
///   end the run.
/// - Each call has one `CallStarted`, then any `Progress` and `ProtectedFiles`, then `Abandoned` if it is abandoned, then exactly one `Result`
///   or `ApprovalDeferred`.
/// - All results of a turn precede the events of the next turn. Events of parallel calls interleave.
/// - The events of a sub-agent are between the `CallStarted` and the `Result` of the call that started it, and are ordered like these.
///   A sub-agent whose call is cancelled sends no `Done`.
/// - The events of a sub-agent in the background are ordered among themselves like these. They come at any time between the first events
///   of a run and its `Done`, after the `CallStarted` of the call that started the sub-agent and before its `TaskEnded`. Its events
///   between two runs are not sent.
/// - The retries of a request that a call makes, as `llm.generate` does, are between its `CallStarted` and its `Result`.
/// - `TaskEnded` is sent once for each task, at any time between the first events and `Done`. It does not precede the `CallStarted` of the
///   call that started the task. If the task ends between two runs, or with the last call of a run, the next run sends it.
/// - `Done` comes last, once, however the run ends. A run whose future is dropped sends no further events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A run with a [correlation id](crate::RunOptions::correlation_id) begins.
    Started {
        /// The id of the host's request.
        correlation_id: String,
    },
    /// The run begins with another system text, other tools or another model than the session's last run. A service then has no part of
    /// the prompt after the change in its cache.
    PrefixChanged(PrefixChange),
    /// The conversation is near the limit of the model's context, or over it, so later requests leave out parts of it.
    Compacted(Compacted),
    /// A model request failed and is repeated after a wait.
    RequestRetried(RequestRetry),
    /// A model request failed with its retries, and another model takes over for the rest of the run.
    ModelChanged(ModelChange),
    /// The reply of the model is empty, unreadable or no answer, such as a call that is written as text. The model is told so and asked
    /// again.
    ReplyRejected {
        /// The problem with the reply.
        reason: String,
        /// True if the [text](Self::Text) since the last turn is withdrawn.
        withdraws_text: bool,
    },
    /// A message that was [sent](crate::RunHandle::send) to the run enters the conversation.
    Steered {
        /// The texts of the message, joined with line breaks.
        text: String,
    },
    /// The model wrote text.
    Text {
        /// The next piece of the turn's text.
        text: String,
    },
    /// A call enters the pipeline.
    CallStarted {
        /// The id of the call, unique in its conversation.
        id: String,
        /// The name of the called tool.
        name: String,
        /// The arguments as the model sent them, with [secrets masked](crate::ToolSet::masked_arguments).
        arguments: Json,
        /// The targets that the arguments name; empty if they cannot be derived.
        targets: Vec<Target>,
        /// The pipeline's decision about each target with the clauses or rules that decide and the places that set them: the JSON of
        /// a [`Ruling`](tools::policy::Ruling). Empty if the targets cannot be derived.
        rulings: Vec<Json>,
    },
    /// A running call reports its progress.
    Progress {
        /// The id of the call.
        id: String,
        /// The tool that reports: the called tool, or a tool that it called in turn.
        name: String,
        /// The progress.
        #[serde(flatten)]
        progress: Progress,
    },
    /// A program of a running call created or changed protected files: those that run or configure programs.
    ProtectedFiles {
        /// The id of the call.
        id: String,
        /// The tool that reports: the called tool, or a tool that it called in turn.
        name: String,
        /// The files, and what became of them.
        files: Vec<ProtectedFile>,
    },
    /// The run stopped waiting for a call, because its deadline passed or the run was cancelled and its tool does not yield.
    /// The call holds a worker thread until it ends. This is a bug in the tool.
    Abandoned {
        /// The id of the call.
        id: String,
        /// The name of the called tool.
        name: String,
        /// The number of abandoned calls on this runtime, including this one.
        #[serde(skip)]
        abandoned: usize,
    },
    /// A call has ended.
    Result {
        /// The id of the call.
        id: String,
        /// The name of the called tool.
        name: String,
        /// The result, as the model receives it.
        #[serde(flatten)]
        result: ToolResult,
        /// The error code; `None` if the call succeeded.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<ErrorCode>,
        /// The time since `CallStarted` without the waits for a person, in milliseconds.
        duration_ms: u64,
    },
    /// A call waits for an approval, and the run ends after the other calls of its turn. The call starts anew when the run is resumed.
    ApprovalDeferred {
        /// The id of the call.
        id: String,
        /// The request for the approval.
        request: ApprovalRequest,
    },
    /// The session's plan has changed.
    PlanChanged {
        /// The items of the plan, in order.
        items: Vec<PlanItem>,
    },
    /// The model searched for tools that requests do not offer.
    ToolsSearched {
        /// The text that it searched for.
        query: String,
        /// The tools whose definitions it got, best first.
        found: Vec<ToolName>,
        /// The number of matches that it did not get.
        others: usize,
    },
    /// A [task](tools::tasks) of the session has ended. Tasks of a sub-agent are those of its own run.
    TaskEnded {
        /// The handle of the task.
        task: String,
        /// The name of the tool that started the task.
        name: String,
        /// The title of the task, such as a command line.
        title: String,
        /// The end, such as `exit code 1`.
        state: String,
    },
    /// An event of a sub-agent's run.
    SubAgent {
        /// The path of the sub-agent, such as `review/tests`: the outermost name comes first.
        agent: String,
        /// The id of the call that started the sub-agent, maybe in an earlier run. The calls of another sub-agent have its path in front of their ids.
        call: String,
        /// The event, which is not itself one of a sub-agent.
        event: Box<Event>,
    },
    /// The run has ended.
    Done(Summary),
}

/// A change of the model in a run with [fallbacks](crate::Driver::with_fallbacks).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ModelChange {
    /// The failed model with its provider, such as `anthropic/claude-sonnet-4-5`.
    pub from: String,
    /// The model that takes over.
    pub to: String,
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The error of the failed request.
    pub reason: String,
    /// True if the [text](Event::Text) since the last turn is withdrawn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub withdraws_text: bool,
}

/// Receives events. Closures `Fn(Event)` are sinks.
pub trait EventSink: Send + Sync {
    /// Receives one event. Must not block: the run and running tools call it. After a panic, the sink is not called again in
    /// that run.
    fn send(&self, event: Event);
}

impl<F: Fn(Event) + Send + Sync> EventSink for F {
    fn send(&self, event: Event) {
        self(event);
    }
}
