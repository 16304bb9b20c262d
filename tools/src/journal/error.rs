//! [`JournalError`]: why something could not be written down or looked up.

/// Why a journal did not do what it was asked to. The counter makes it a
/// [`ToolErrorKind::Internal`](crate::ToolErrorKind::Internal), which ends a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It could not be read or written.
    #[error("the journal cannot be used: {reason}; see to its file and its disk, then resume")]
    Failed {
        /// What happened.
        reason: String,
    },
    /// Whatever writes it is gone.
    #[error("the journal is closed; open it again, then resume")]
    Closed,
}

impl JournalError {
    /// It could not be read or written.
    pub fn failed(reason: impl ToString) -> Self {
        Self::Failed { reason: reason.to_string() }
    }
}
