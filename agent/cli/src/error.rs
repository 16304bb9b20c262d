//! [`Error`]: why a command did not do its work.

use std::io;
use std::path::PathBuf;

use agent::{ArgumentError, DriverError, InvalidSelection, ProviderError};
use tools::{NotLinked, ToolError};
#[cfg(feature = "journal")]
use tools_journal::AuditError;

use crate::config::ConfigError;
use crate::exit::Exit;
use crate::wording::{counted, for_person};
use crate::{linked, notice};

/// Why a command did not do its work. Each has an [`Exit`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}", for_person(.0))]
    Tool(#[from] ToolError),
    #[error("{}", for_person(error))]
    Refused { error: ToolError, hints: Vec<String> },
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    #[error(transparent)]
    Selection(#[from] InvalidSelection),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Driver(DriverError),
    #[error(transparent)]
    NotLinked(#[from] NotLinked),
    #[error("cannot use {} as the root: {reason}; name a directory with --root", path.display())]
    Root { path: PathBuf, reason: String },
    #[error("cannot read the arguments from the standard input: {0}; write them as JSON text in UTF-8")]
    Input(io::Error),
    #[error("cannot read a prompt: {0}; see where the standard input comes from")]
    Prompt(String),
    #[error("cannot write the output: {0}; see where the standard output leads")]
    Output(io::Error),
    #[error("cannot start: {0}; free some processes, memory or file handles")]
    Runtime(io::Error),
    #[cfg(not(feature = "journal"))]
    #[error("this program was built without journals; build it with --features journal")]
    NoJournal,
    #[cfg(feature = "journal")]
    #[error(transparent)]
    OpenJournal(#[from] tools_journal::OpenError),
    #[cfg(feature = "journal")]
    #[error(transparent)]
    Audit(#[from] AuditError),
    #[cfg(feature = "journal")]
    #[error(transparent)]
    Head(#[from] tools_journal::InvalidHead),
    #[error("the journal has a session {0:?} already; go on with it with --resume, or choose another name")]
    SessionExists(String),
    #[error("the journal has no session {0:?}; begin it without --resume")]
    NoSession(String),
    #[cfg(feature = "journal")]
    #[error("the journal has no call of a session {name:?}; {there}")]
    NoCalls { name: String, there: String },
    #[error("there is no journal at {}; name the one that the session is in", .0.display())]
    NoJournalFile(PathBuf),
    #[error("the run failed: {0}")]
    Run(String),
    #[error("there was no answer after {}; allow more with --max-steps", counted((*.0).into(), "step"))]
    StepBudget(u32),
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// How the program ends with this.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Tool(error) | Self::Refused { error, .. } | Self::Driver(DriverError::Tool(error)) => {
                Exit::from(error.code())
            }
            Self::Argument(_) => Exit::InvalidArguments,
            Self::Selection(_)
            | Self::Config(_)
            | Self::Root { .. }
            | Self::Input(_)
            | Self::Prompt(_)
            | Self::SessionExists(_)
            | Self::NoSession(_)
            | Self::NoJournalFile(_) => Exit::Usage,
            #[cfg(not(feature = "journal"))]
            Self::NoJournal => Exit::Usage,
            #[cfg(feature = "journal")]
            Self::OpenJournal(_) | Self::Head(_) | Self::NoCalls { .. } | Self::Audit(AuditError::Open(_)) => {
                Exit::Usage
            }
            #[cfg(feature = "journal")]
            Self::Audit(_) => Exit::Problems,
            Self::Provider(error) | Self::Driver(DriverError::Provider(error)) => of_provider(error),
            // Whoever read the output has seen enough of it.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Success,
            Self::NotLinked(_) | Self::Output(_) | Self::Runtime(_) | Self::Driver(_) => Exit::Internal,
            Self::Run(_) => Exit::Failed,
            Self::StepBudget(_) => Exit::StepBudget,
            Self::Cancelled => Exit::Cancelled,
        }
    }

    /// Tells it on the standard error, with what to do about it.
    pub(crate) fn report(&self) -> Exit {
        let exit = self.exit();
        if exit != Exit::Success {
            notice::error(&self.to_string());
        }
        if let Self::Refused { hints, .. } = self {
            hints.iter().for_each(|hint| notice::hint(hint));
        }
        if let Self::Provider(ProviderError::Unknown { name, .. }) = self
            && let Some(way) = linked::how_to_link(name)
        {
            notice::hint(way);
        }
        exit
    }
}

fn of_provider(error: &ProviderError) -> Exit {
    match error {
        ProviderError::Unknown { .. } => Exit::NotFound,
        ProviderError::Conflict { .. } => Exit::Unavailable,
        ProviderError::Options { .. }
        | ProviderError::NoPrompt
        | ProviderError::Prompt { .. }
        | ProviderError::ScriptFile { .. }
        | ProviderError::Script { .. } => Exit::Usage,
        ProviderError::Arguments { .. } => Exit::InvalidArguments,
        _ => Exit::Failed,
    }
}
