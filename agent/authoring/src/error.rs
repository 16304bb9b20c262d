//! [`AuthoringError`]: the reason why a command for authors of tools fails.

use std::io;
use std::path::PathBuf;

use agent::InvalidSelection;
use host::{CommandError, Exit, program};
use tools::{ToolError, counted};

use crate::lock_file::LockError;

/// The reason why a command for authors of tools fails. Each variant maps to an [`Exit`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthoringError {
    #[error("cannot create a workspace at {}: {source}; choose another name or directory", path.display())]
    New { path: PathBuf, source: io::Error },
    #[error("{} is not a checkout of Toolcrib; pass the directory of its Cargo.toml with --path", .0.display())]
    NoCheckout(PathBuf),
    #[error("{} cannot be used; {} doctor has the reasons", counted(*.0, "linked tool"), program::name())]
    Unusable(u64),
    #[error("{error}; {} list names all tools", program::name())]
    Tool {
        #[from]
        error: ToolError,
    },
    #[error(transparent)]
    Selection(#[from] InvalidSelection),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl AuthoringError {
    /// Returns the error about linked tools that cannot be used, if there are any.
    pub(crate) fn of_unusable() -> Option<Self> {
        let count = tools::conflicts().len() + tools::problems().len();
        (count > 0).then_some(Self::Unusable(count as u64))
    }
}

impl From<AuthoringError> for CommandError {
    fn from(error: AuthoringError) -> Self {
        let exit = match &error {
            AuthoringError::Unusable(_) => Exit::Problems,
            AuthoringError::Tool { error } => Exit::from(error.code()),
            _ => Exit::Usage,
        };
        match error {
            AuthoringError::Command(error) => error,
            error => Self::new(exit, error),
        }
    }
}
