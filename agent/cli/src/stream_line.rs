//! [`StreamLine`]: the lines of `--output stream-json`, and the document of `--output json`.
//!
//! The README documents them. A change that breaks a reader raises [`VERSION`].

use std::time::Duration;

use agent::{
    ApprovalRequest, BudgetScope, Compacted, CompactionCause, Event, Exhausted, FailureKind,
    Outcome, PlanItem, PrefixChange, Resource, RetryCause, Spending, StopReason, Summary,
};
use serde::Serialize;
use tools::protocol::Content;
use tools::{ErrorCode, Json, Progress, ProtectedFile, Target, ToolName, ToolResult};

/// The version of the format.
const VERSION: u32 = 1;

/// A line of a stream.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StreamLine<'a> {
    Session(SessionLine<'a>),
    Started {
        correlation_id: &'a str,
    },
    PrefixChanged(PrefixLine<'a>),
    Compacted(CompactedLine<'a>),
    RequestRetried(RetryLine<'a>),
    ReplyRejected {
        reason: &'a str,
        withdraws_text: bool,
    },
    Text {
        text: &'a str,
    },
    CallStarted {
        id: &'a str,
        name: &'a str,
        arguments: &'a Json,
        targets: &'a [Target],
        rulings: &'a [Json],
    },
    Progress(ProgressLine<'a>),
    ProtectedFiles {
        id: &'a str,
        name: &'a str,
        files: &'a [ProtectedFile],
    },
    Abandoned {
        id: &'a str,
        name: &'a str,
    },
    Result(ResultLine<'a>),
    ApprovalDeferred {
        id: &'a str,
        request: &'a ApprovalRequest,
    },
    PlanChanged {
        items: &'a [PlanItem],
    },
    ToolsSearched {
        query: &'a str,
        found: &'a [ToolName],
        others: usize,
    },
    TaskEnded {
        task: &'a str,
        name: &'a str,
        title: &'a str,
        state: &'a str,
    },
    SubAgent {
        agent: &'a str,
        call: &'a str,
        event: Box<StreamLine<'a>>,
    },
    Outcome(OutcomeLine<'a>),
}

/// The first line of a run.
#[derive(Debug, Serialize)]
pub(crate) struct SessionLine<'a> {
    version: u32,
    pub(crate) program: &'a str,
    pub(crate) program_version: &'a str,
    pub(crate) provider: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
    pub(crate) tools: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct PrefixLine<'a> {
    added: &'a [ToolName],
    removed: &'a [ToolName],
    changed: &'a [ToolName],
    system: bool,
    format: bool,
    model: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct CompactedLine<'a> {
    cause: &'static str,
    replaced: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    summarised: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_problem: Option<String>,
    bytes_before: u64,
    bytes_after: u64,
    tokens_before: u64,
    tokens_after: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct RetryLine<'a> {
    retry: u32,
    max_retries: u32,
    wait_ms: u64,
    cause: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<FailureKind>,
    message: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    withdraws_text: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProgressLine<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ResultLine<'a> {
    id: &'a str,
    name: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorCode>,
    duration_ms: u64,
    content: &'a [Content],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
}

/// The last line of a run, also of one of a sub-agent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct OutcomeLine<'a> {
    version: u32,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<FailureKind>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    approvals: &'a [ApprovalRequest],
    steps: u32,
    calls: u32,
    failed_calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cached_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    spent: Spending,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
}

impl<'a> StreamLine<'a> {
    /// Returns the line of an event, or `None` if this version has none for it. `duration` is the time of the run so far.
    pub(crate) fn from_event(event: &'a Event, duration: Duration) -> Option<Self> {
        Some(match event {
            Event::Started { correlation_id } => Self::Started { correlation_id },
            Event::PrefixChanged(PrefixChange {
                added,
                removed,
                changed,
                system,
                format,
                model,
                ..
            }) => {
                let (system, format, model) = (*system, *format, *model);
                Self::PrefixChanged(PrefixLine {
                    added,
                    removed,
                    changed,
                    system,
                    format,
                    model,
                })
            }
            Event::Compacted(compacted) => Self::Compacted(CompactedLine::new(compacted)),
            Event::RequestRetried(retry) => {
                let (cause, status, message) = match &retry.cause {
                    RetryCause::Status {
                        status, message, ..
                    } => ("status", Some(*status), message),
                    RetryCause::Reported { message, .. } => ("reported", None, message),
                    RetryCause::Timeout { message } => ("timeout", None, message),
                    RetryCause::Connection { message } => ("connection", None, message),
                    RetryCause::Other { message } => ("other", None, message),
                    _ => return None,
                };
                let (kind, withdraws_text) = (retry.cause.kind(), retry.withdraws_text);
                let (retry, max_retries, wait_ms) = (retry.retry, retry.max_retries, retry.wait_ms);
                Self::RequestRetried(RetryLine {
                    retry,
                    max_retries,
                    wait_ms,
                    cause,
                    status,
                    kind,
                    message,
                    withdraws_text,
                })
            }
            Event::ReplyRejected {
                reason,
                withdraws_text,
            } => Self::ReplyRejected {
                reason,
                withdraws_text: *withdraws_text,
            },
            Event::Text { text } => Self::Text { text },
            Event::CallStarted {
                id,
                name,
                arguments,
                targets,
                rulings,
            } => Self::CallStarted {
                id,
                name,
                arguments,
                targets,
                rulings,
            },
            Event::Progress {
                id,
                name,
                progress:
                    Progress {
                        done,
                        total,
                        message,
                    },
            } => Self::Progress(ProgressLine {
                id,
                name,
                done: *done,
                total: *total,
                message: message.as_deref(),
            }),
            Event::ProtectedFiles { id, name, files } => Self::ProtectedFiles { id, name, files },
            Event::Abandoned { id, name, .. } => Self::Abandoned { id, name },
            Event::Result {
                id,
                name,
                result,
                error,
                duration_ms,
            } => {
                let ToolResult {
                    content,
                    structured,
                    is_error,
                    task,
                } = result;
                let (error, duration_ms, is_error) = (*error, *duration_ms, *is_error);
                let (structured, task) = (structured.as_ref(), task.as_deref());
                Self::Result(ResultLine {
                    id,
                    name,
                    is_error,
                    error,
                    duration_ms,
                    content,
                    structured,
                    task,
                })
            }
            Event::ApprovalDeferred { id, request } => Self::ApprovalDeferred { id, request },
            Event::PlanChanged { items } => Self::PlanChanged { items },
            Event::ToolsSearched {
                query,
                found,
                others,
            } => Self::ToolsSearched {
                query,
                found,
                others: *others,
            },
            Event::TaskEnded {
                task,
                name,
                title,
                state,
            } => Self::TaskEnded {
                task,
                name,
                title,
                state,
            },
            Event::SubAgent { agent, call, event } => {
                let event = match &**event {
                    // The duration of a sub-agent is that of the call that started it.
                    Event::Done(summary) => Self::Outcome(OutcomeLine::new(summary, None)),
                    event => Self::from_event(event, duration)?,
                };
                Self::SubAgent {
                    agent,
                    call,
                    event: Box::new(event),
                }
            }
            Event::Done(summary) => Self::Outcome(OutcomeLine::new(summary, Some(duration))),
            _ => return None,
        })
    }
}

impl<'a> CompactedLine<'a> {
    fn new(compacted: &'a Compacted) -> Self {
        let Compacted {
            cause,
            replaced,
            summarised,
            dropped,
            summary_problem,
            before,
            after,
            ..
        } = compacted;
        Self {
            cause: if *cause == CompactionCause::ContextLength {
                "context_length"
            } else {
                "near_limit"
            },
            replaced,
            summarised: summarised
                .as_ref()
                .map(|messages| [messages.start, messages.end]),
            dropped: dropped
                .as_ref()
                .map(|messages| [messages.start, messages.end]),
            summary_problem: summary_problem.as_ref().map(ToString::to_string),
            bytes_before: before.bytes,
            bytes_after: after.bytes,
            tokens_before: before.tokens,
            tokens_after: after.tokens,
        }
    }
}

impl<'a> SessionLine<'a> {
    /// Returns the line of this version.
    pub(crate) fn new(program: &'a str, program_version: &'a str, provider: &'a str) -> Self {
        let (model, session, tools) = (None, None, Vec::new());
        Self {
            version: VERSION,
            program,
            program_version,
            provider,
            model,
            session,
            tools,
        }
    }
}

impl<'a> OutcomeLine<'a> {
    fn new(summary: &'a Summary, duration: Option<Duration>) -> Self {
        let line = Self {
            version: VERSION,
            steps: summary.steps,
            calls: summary.calls,
            failed_calls: summary.failed_calls,
            input_tokens: summary.usage.map(|usage| usage.input_tokens),
            cached_input_tokens: summary
                .usage
                .map(|usage| usage.cached_input_tokens)
                .filter(|cached| *cached > 0),
            output_tokens: summary.usage.map(|usage| usage.output_tokens),
            spent: summary.spent,
            duration_ms: duration
                .map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            ..Self::default()
        };
        match &summary.outcome {
            Outcome::Answer { text, stop } => Self {
                outcome: "answer",
                text: Some(text),
                stop: Some(stop_text(stop)),
                ..line
            },
            Outcome::Budget(Exhausted {
                resource,
                limit,
                scope,
            }) => {
                let (outcome, max_steps) = match resource {
                    Resource::Steps => ("step_budget", Some(*limit)),
                    Resource::Calls => ("call_budget", None),
                    Resource::Tokens => ("token_budget", None),
                    Resource::Cost => ("cost_budget", None),
                    Resource::Time => ("time_budget", None),
                    _ => ("budget", None),
                };
                let window = if let BudgetScope::Window(name) = scope {
                    Some(name.as_str())
                } else {
                    None
                };
                Self {
                    outcome,
                    max_steps,
                    limit: Some(*limit),
                    window,
                    ..line
                }
            }
            Outcome::Loop(repeated) => Self {
                outcome: "loop",
                tool: Some(&repeated.tool),
                ..line
            },
            Outcome::WaitingForApproval { requests } => Self {
                outcome: "waiting_for_approval",
                approvals: requests,
                ..line
            },
            Outcome::Cancelled => Self {
                outcome: "cancelled",
                ..line
            },
            Outcome::Failed { message, failure } => Self {
                outcome: "failed",
                message: Some(message),
                kind: *failure,
                ..line
            },
            _ => Self {
                outcome: "failed",
                message: Some("unknown outcome"),
                ..line
            },
        }
    }
}

fn stop_text(stop: &StopReason) -> &str {
    match stop {
        StopReason::Length => "length",
        StopReason::Refusal => "refusal",
        StopReason::Other(reason) => reason,
        _ => "answer",
    }
}
