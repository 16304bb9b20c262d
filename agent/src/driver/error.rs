//! [`DriverError`]: the errors that end a run.

use tools::ToolError;
use tools::journal::JournalError;

use crate::budget::BudgetError;
use crate::provider::{FailureKind, ProviderError};
use crate::run::RunError;
use crate::trace::error_type;

/// An error that ends a run. The end of a budget and a cancellation are not errors but an [`Outcome`](crate::Outcome).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The provider failed.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The pipeline failed, for example because the journal cannot be written.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The run rejected a turn or a result.
    #[error("the run lost track of its calls: {0}; report this bug in Toolcrib")]
    Run(#[from] RunError),
    /// The counters of a shared budget cannot be read or written.
    #[error(transparent)]
    Budget(BudgetError),
    /// A checkpoint could not be written or read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The stored checkpoint is not a valid run.
    #[error(
        "the session's checkpoint is not a valid run: {reason}; start a session with another name"
    )]
    Stored {
        /// The problem with the checkpoint.
        reason: String,
    },
    /// There is no tokio runtime.
    #[error("a run needs a tokio runtime; start it inside of one")]
    NoRuntime,
    /// A budget limits the time of the run, but the runtime has no timers.
    #[error(
        "a run with a time limit needs the timers of tokio; build the runtime with `enable_time`"
    )]
    NoTimer,
    /// The thread that watches deadlines cannot be started.
    #[error(
        "cannot start the thread that watches the deadlines of calls: {0}; allow the process one more thread"
    )]
    NoThread(#[source] std::io::Error),
    /// The system has no random key for the approvals of the run.
    #[error(
        "cannot make the key for the approvals of the run: {0}; allow the process the random numbers of its system"
    )]
    NoRandom(#[source] std::io::Error),
}

impl DriverError {
    /// Returns the kind of the failed model request. Returns `None` if something else failed.
    pub fn kind(&self) -> Option<FailureKind> {
        match self {
            Self::Provider(error) => error.kind(),
            _ => None,
        }
    }

    /// Returns the type of the error in spans.
    pub(super) fn span_type(&self) -> String {
        match self {
            Self::Tool(error) => error.code().to_string(),
            other => error_type(other.kind()),
        }
    }
}
