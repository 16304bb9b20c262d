//! [`Journal`]: what was about to be done, and how it ended.
//!
//! A context that has a journal ([`ToolContext::with_journal`](crate::ToolContext::with_journal)) has every call written down
//! by the counter: an intent before the tool is run, an outcome after it, or a refusal where it was not run. A call whose intent
//! cannot be written, or not within its time, is not run.
//!
//! # Calls that have a place are run at most once
//!
//! A call that is at a place in a conversation ([`ToolContext::with_place`](crate::ToolContext::with_place), in a
//! [session](crate::ToolContext::with_session)) has a [`CallKey`], and the counter looks it up before anything else is done for
//! the call. So a conversation that is gone through again, because the process died in the middle of it, does nothing twice:
//!
//! | under the key is | then the call |
//! |---|---|
//! | nothing, or a refusal: the tool was never run | takes its way |
//! | an outcome | is not run; the result that the model was given then is given again, an error as the result that tells it, or, to a tool that made the call, as an error with that text |
//! | an intent without an outcome, or the outcome of one that was cancelled | is run again where the [effects](crate::Effects::is_idempotent) of its tool allow it; otherwise it fails with [`OutcomeUnknown`](crate::ToolErrorKind::OutcomeUnknown) |
//! | a call of another tool, of another definition of it, or with other arguments | fails with [`Diverged`](crate::ToolErrorKind::Diverged), which ends a run: this is another conversation, and what of it has been done is not known |
//!
//! Of arguments that are [secret](crate::Secret) nothing is kept, so calls that differ in those alone are the same call.
//!
//! What is replayed is not held against the grant, nor asked about: it has been done. A call whose future is dropped has an intent
//! and no outcome. The name of a session tells its calls from all others, so give a new one to each conversation: the same call at
//! the same place of a session by the same name is taken for the same call, and its recorded result is given.
//!
//! Calls that a tool makes have a key below that of its own call: the number of the nested call, in the order in which the tool
//! asks for them. A call without a place has no key and is never replayed.

mod checkpoint;
mod error;
mod key;
mod record;

use std::future::Future;
use std::pin::Pin;

use protocol::ErrorCode;

pub use checkpoint::{Checkpoint, CheckpointId};
pub use error::JournalError;
pub use key::CallKey;
pub use record::{Begun, CallArguments, CallRecord, IntentId, OutcomeRecord, Recorded};

/// What a [`Journal`] gives, some time later.
pub type JournalFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send + 'a>>;

/// Keeps what the counter tells it. Object-safe; one serves many sessions and many threads.
///
/// What a method promises holds when its future is ready with `Ok`, also if the process ends right after it. A future that
/// is dropped may or may not have had its effect. A journal that cannot keep up makes its callers wait; it never drops anything
/// without a word.
pub trait Journal: Send + Sync {
    /// The last call that was begun under a key. Refusals are not looked at.
    fn find<'a>(&'a self, key: &'a CallKey) -> JournalFuture<'a, Option<Recorded>>;

    /// Writes down that a call is about to be run, unless under its key an attempt of this number, or a later one, was begun
    /// already. Looking and writing are one step: of two callers, also in two processes, one is told that it has begun.
    fn begin<'a>(&'a self, call: CallRecord<'a>, attempt: u32) -> JournalFuture<'a, Begun>;

    /// Writes down how a call ended that was begun.
    fn end<'a>(&'a self, intent: IntentId, outcome: OutcomeRecord<'a>) -> JournalFuture<'a, ()>;

    /// Writes down that a call was not run. `code` is that of the error, `reason` its text; or both are what a host
    /// [says](crate::call::refuse) that did not let it be run.
    fn refuse<'a>(&'a self, call: CallRecord<'a>, code: ErrorCode, reason: &'a str) -> JournalFuture<'a, ()>;

    /// Replaces everything that is stored of a session with a checkpoint. Returns the checkpoint's id.
    fn save<'a>(&'a self, session: &'a str, checkpoint: Checkpoint) -> JournalFuture<'a, CheckpointId>;

    /// Adds messages behind those of the checkpoint `last`, and replaces its state. Returns the new checkpoint's id.
    ///
    /// Returns `None`, and changes nothing, if `last` is not the session's newest checkpoint: another driver runs the session
    /// as well. [Save](Self::save) all messages then.
    fn append<'a>(
        &'a self,
        session: &'a str,
        last: CheckpointId,
        added: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>>;

    /// Returns a session's newest checkpoint with all of its messages, or `None` if nothing is stored of the session.
    fn load<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<Checkpoint>>;
}
