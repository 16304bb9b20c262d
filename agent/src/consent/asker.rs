//! [`Asker`]: puts a question to a person.

use std::future::Future;
use std::pin::Pin;

use super::ApprovalQuestion;

/// The future of an [`Asker`]'s answer.
pub type ApprovalAnswerFuture<'a> = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + 'a>>;

/// Shows a question to a person and returns the answer. [`SessionConsent`](super::SessionConsent) asks one question at a time.
pub trait Asker: Send + Sync {
    /// Asks about one call. The future is dropped if the call ends before the answer, for example at the approval timeout.
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a>;
}

/// A person's answer to a question about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Approves this call.
    Once,
    /// Approves this call and later calls of the tool on the same targets. Approves only this call if the approval
    /// [may not last](ApprovalQuestion::may_last).
    Session,
    /// Approves this call and later calls of the tool, because the asker has written a rule of the user that permits them. Approves only
    /// this call if the approval [may not be kept](ApprovalQuestion::may_be_kept).
    Always,
    /// Denies this call.
    No {
        /// The reason, for the model.
        reason: String,
    },
}
