//! [`Asker`]: puts a question to a person.

use std::future::Future;
use std::pin::Pin;

use super::Question;

/// The future of an [`Asker`]'s answer.
pub type AnswerFuture<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Shows a question to a person and returns the answer. [`SessionConsent`](super::SessionConsent) asks one question at a time.
pub trait Asker: Send + Sync {
    /// Asks about one call. The future is dropped if the call ends before the answer, for example at the approval timeout.
    fn ask<'a>(&'a self, question: Question<'a>) -> AnswerFuture<'a>;
}

/// A person's answer to a question about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approves this call.
    Once,
    /// Approves this call and later calls of the tool on the same targets. Approves only this call if the approval
    /// [may not last](Question::may_last).
    Session,
    /// Denies this call.
    No {
        /// The reason, for the model.
        reason: String,
    },
}
