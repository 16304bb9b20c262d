//! [`Journal`]: a write-ahead record of calls and their outcomes.
//!
//! With a journal in the context ([`Host::with_journal`](crate::Host::with_journal)), the pipeline records every call:
//!
//! - an intent before the tool runs and an outcome after it, or
//! - a refusal if the tool does not run.
//!
//! A call whose intent cannot be recorded before its deadline is not run.
//!
//! # A call with a key runs at most once
//!
//! A call with a [place](crate::Host::with_place) in a [session](crate::Host::with_session) has a [`CallKey`]. The
//! pipeline looks the key up before it validates the call. Resuming a conversation after a crash therefore repeats no call:
//!
//! | recorded under the key | the call |
//! |---|---|
//! | nothing, or a refusal | passes the pipeline as usual |
//! | an outcome | is not run; the recorded result is returned. A recorded error is returned as an error result, or as an error with that text to a tool that made the call |
//! | an intent without an outcome, or with the outcome of a cancelled call | is run again if the tool's [effects](crate::Effects::is_idempotent) allow it, otherwise fails with [`OutcomeUnknown`](crate::ToolErrorKind::OutcomeUnknown) |
//! | a call of another tool or another definition, or with other arguments | fails with [`Diverged`](crate::ToolErrorKind::Diverged), which ends a run: the journal belongs to another conversation |
//!
//! - Secret arguments ([`Secret`](crate::Secret)) are not recorded, so calls that differ only in those count as equal. So do calls that
//!   differ only in the arguments of a [kept call](crate::Handler::kept_call).
//! - A replayed call needs no grant and no approval, because it has already run.
//! - A call whose future is dropped has an intent and no outcome.
//! - A tool that needs a connection [waits for it](crate::Handler::connect) before its intent is recorded. So a call that ended during this
//!   wait counts as not made.
//! - A nested call's key is its parent's key and a number: its position in the order in which the tool makes its calls.
//! - A call without a place has no key and is never replayed.
//!
//! Give each conversation its own session name. An equal call at the same place of a session with the same name is replayed.

mod record;

use std::future::Future;
use std::pin::Pin;
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::{ErrorCode, Grant};

pub use record::{
    BeginResult, CallArguments, CallKey, CallRecord, IntentId, OutcomeRecord, RecordedCall,
};

/// The future that a [`Journal`] method returns.
pub type JournalFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

/// A durable store of call records and checkpoints. Object-safe; one journal serves many sessions and threads.
///
/// An implementation guarantees:
///
/// - After a future resolves to `Ok`, its record survives the end of the process.
/// - A dropped future may or may not have written its record.
/// - An overloaded journal makes its callers wait and drops no record.
pub trait Journal: Send + Sync {
    /// Returns the last attempt recorded under the key, or `None` if there is no intent. Ignores refusals.
    fn find<'a>(&'a self, key: &'a CallKey) -> JournalFuture<'a, Option<RecordedCall>>;

    /// Records the intent to run a call, unless this attempt or a later one is already recorded under its key.
    ///
    /// Lookup and write are one atomic step, also across processes: of two concurrent callers only one gets
    /// [`BeginResult::Started`].
    fn begin<'a>(&'a self, call: CallRecord<'a>, attempt: u32) -> JournalFuture<'a, BeginResult>;

    /// Records the outcome of a started call.
    fn end<'a>(&'a self, intent: IntentId, outcome: OutcomeRecord<'a>) -> JournalFuture<'a, ()>;

    /// Records that a call was not run, with the code and the text of the error. A host passes its own through
    /// [`call::refuse`](crate::call::refuse).
    fn refuse<'a>(
        &'a self,
        call: CallRecord<'a>,
        code: ErrorCode,
        reason: &'a str,
    ) -> JournalFuture<'a, ()>;

    /// Replaces the session's stored messages and state with a checkpoint. Returns the checkpoint's id.
    fn save<'a>(
        &'a self,
        session: &'a str,
        checkpoint: Checkpoint,
    ) -> JournalFuture<'a, CheckpointId>;

    /// Appends messages to the checkpoint `last` and replaces its state. Returns the new checkpoint's id.
    ///
    /// Returns `None` and changes nothing if `last` is not the session's newest checkpoint, because another driver runs the
    /// session too. [Save](Self::save) all messages in that case.
    fn append<'a>(
        &'a self,
        session: &'a str,
        last: CheckpointId,
        added: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>>;

    /// Returns the session's newest checkpoint with all of its messages, or `None` if it has none.
    fn load<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<Checkpoint>>;
}

/// The data a driver needs to resume a session. The journal stores it without reading it.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The messages, in order. A conversation only grows, even if requests leave out parts of it, so each message is written once.
    pub messages: Vec<String>,
    /// The rest of the state. It is small, and each checkpoint replaces it.
    pub state: String,
}

impl Checkpoint {
    /// Creates a checkpoint.
    pub fn new(messages: Vec<String>, state: impl Into<String>) -> Self {
        Self {
            messages,
            state: state.into(),
        }
    }
}

// Shows the number of messages only, because arguments in them may be secret.
crate::debug_fields!(self: Checkpoint { messages = self.messages.len() });

/// An identifier that a journal assigns to a checkpoint, unique within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointId(pub u64);

/// The time, workspace, grant, provider, URL of its service, model and job with which a session began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStart {
    /// The time, in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// The workspace's path or another name of it. The journal does not interpret it.
    pub workspace: String,
    /// The grant. A host narrows the grant of a resumed session by it.
    pub grant: Grant,
    /// The name of the provider, or `None` if it is not recorded.
    pub provider: Option<String>,
    /// The model's name, or `None` if the provider chose it.
    pub model: Option<String>,
    /// The URL of the provider's service, or `None` for its usual one. A host must not send a key there because a journal says so.
    pub base_url: Option<String>,
    /// The job that the session runs, or `None` if it runs none. The limits of a job are in no journal, so a host resumes none.
    pub job: Option<i64>,
}

impl SessionStart {
    /// Creates the start of a session that begins now.
    pub fn new(workspace: impl Into<String>, grant: Grant) -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            at_ms: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            workspace: workspace.into(),
            grant,
            provider: None,
            model: None,
            base_url: None,
            job: None,
        }
    }
}

/// An error from reading or writing a journal.
///
/// The pipeline turns it into [`ToolErrorKind::Internal`](crate::ToolErrorKind::Internal), which ends a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal cannot be read or written.
    #[error("the journal cannot be used: {reason}; check its file and its disk, then resume")]
    Failed {
        /// The underlying error.
        reason: String,
    },
    /// The journal's writer has ended.
    #[error("the journal is closed; open it again, then resume")]
    Closed,
}

impl JournalError {
    /// Creates a [`Failed`](Self::Failed) with this reason.
    pub fn failed(reason: impl ToString) -> Self {
        Self::Failed {
            reason: reason.to_string(),
        }
    }
}
