//! [`JournalError`]: an error from reading or writing a journal.

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
