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

mod checkpoint;
mod error;
mod key;
mod record;
mod session_start;

use std::future::Future;
use std::pin::Pin;

use protocol::ErrorCode;

pub use checkpoint::{Checkpoint, CheckpointId};
pub use error::JournalError;
pub use key::CallKey;
pub use record::{BeginResult, CallArguments, CallRecord, IntentId, OutcomeRecord, RecordedCall};
pub use session_start::SessionStart;

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
