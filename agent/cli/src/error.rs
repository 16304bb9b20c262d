//! [`Error`]: the failure of a command.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use agent::{
    ArgumentError, BudgetScope, DriverError, Exhausted, InvalidSelection, ProviderError, Repeated,
    Resource,
};
use host::folders::InvalidRoot;
use host::trust::RecordError;
use host::{CommandError, Exit, duration};
use terminal::stdout::OutputError;
use tools::linked::{LookupError, NotLinked};
use tools::{ErrorCode, ToolError, counted};

use crate::config::SettingsError;
use crate::wording::for_person;
use crate::{linked, notice, program};

/// The failure of a command. Each variant maps to an [`Exit`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{}", for_person(.0))]
    Tool(#[from] ToolError),
    #[error("{}", for_person(error))]
    Refused {
        error: Box<ToolError>,
        hints: Vec<String>,
    },
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    #[error(transparent)]
    Selection(#[from] InvalidSelection),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Config(#[from] SettingsError),
    #[error(transparent)]
    Driver(DriverError),
    #[error(transparent)]
    NotLinked(#[from] NotLinked),
    #[error(transparent)]
    Family(#[from] LookupError),
    #[error(transparent)]
    Root(#[from] InvalidRoot),
    #[error("cannot read the arguments from standard input: {0}; pass them as JSON text in UTF-8")]
    Input(io::Error),
    #[error("cannot read a prompt: {0}; check the source of standard input")]
    Prompt(String),
    #[error("there is no prompt; give one as an argument, or pipe it to standard input")]
    NoPrompt,
    #[error("cannot attach {name}: {reason}")]
    Attachment { name: String, reason: String },
    #[error(
        "the prompt is one argument, and {0:?} is another; quote it whole, such as 'time.now zone=UTC'"
    )]
    UnquotedPrompt(String),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("cannot save {}: {source}; check the path and the permissions of its folder", path.display())]
    OutputFile { path: PathBuf, source: io::Error },
    #[error(
        "cannot save piece {number} of the result: its base64 is damaged; --json prints it as the tool sent it"
    )]
    BrokenContent { number: usize },
    #[error("cannot start the runtime: {0}; free some processes, memory or file handles")]
    Runtime(io::Error),
    #[error("the journal has no session {0:?}; start it without --resume")]
    NoSession(String),
    #[error("{} cannot be used; {} doctor has the reasons", counted(*.0, "linked tool"), program::name())]
    Unusable(u64),
    #[error("no model is chosen; do one of these")]
    NoProvider([String; 3]),
    #[error(
        "the last prompt of the session is not answered yet; continue it without a prompt first"
    )]
    Unanswered,
    #[error("the run failed: {0}")]
    Run(String),
    #[error("{}", message(.0))]
    Budget(Exhausted),
    #[error(
        "no answer: the model made the same call of {} {} times with the same result; change the prompt",
        .0.tool, .0.times
    )]
    Loop(Repeated),
    #[error("{} for an approval; approve or deny each request", if *.0 == 1 { "a call waits".to_owned() } else { format!("{} calls wait", .0) })]
    Waiting(usize),
    #[error(
        "an approval cannot be deferred in a session that is not recorded; drop --no-journal, or name the session with --session"
    )]
    Unrecorded,
    #[error(
        "no call waits for an approval with the request {id:?}; {}",
        waiting_advice(waiting)
    )]
    NoRequest { id: String, waiting: Vec<String> },
    #[error("there is no folder for the state of this user, so no approval can be kept; set HOME")]
    NoState,
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(
        "the digest of {what} is {shown}, and not {given}; look again, and add --digest {shown} to approve it"
    )]
    WrongDigest {
        what: &'static str,
        shown: tools::Digest,
        given: String,
    },
    #[error(transparent)]
    Command(#[from] CommandError),
    #[error("cancelled")]
    Cancelled,
    #[error("{error}")]
    Unfinished { error: Box<Self>, hint: String },
}

impl Error {
    /// Creates the error of a prompt that cannot be read.
    pub(crate) fn prompt(reason: impl ToString) -> Self {
        Self::Prompt(reason.to_string())
    }

    /// Creates the error of a file that cannot be attached.
    pub(crate) fn attachment(name: &str, reason: impl ToString) -> Self {
        Self::Attachment {
            name: name.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Tool(error) | Self::Driver(DriverError::Tool(error)) => Exit::from(error.code()),
            Self::Refused { error, .. } => Exit::from(error.code()),
            Self::Argument(_) => Exit::InvalidArguments,
            Self::Selection(_)
            | Self::Config(_)
            | Self::Root(_)
            | Self::Input(_)
            | Self::Prompt(_)
            | Self::NoPrompt
            | Self::Attachment { .. }
            | Self::OutputFile { .. }
            | Self::UnquotedPrompt(_)
            | Self::Unrecorded
            | Self::NoSession(_)
            | Self::NoRequest { .. }
            | Self::NoState
            | Self::NoProvider(_)
            | Self::Unanswered
            | Self::Record(_) => Exit::Usage,
            Self::WrongDigest { .. } => Exit::Refused,
            Self::BrokenContent { .. } => Exit::Failed,
            Self::Command(error) => error.exit,
            Self::Unusable(_) => Exit::Problems,
            Self::Family(_) => Exit::Unavailable,
            Self::Provider(error) | Self::Driver(DriverError::Provider(error)) => {
                provider_exit(error)
            }
            // The reader closed the pipe after reading enough.
            Self::Output(OutputError(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                Exit::Success
            }
            Self::NotLinked(_) | Self::Output(_) | Self::Runtime(_) | Self::Driver(_) => {
                Exit::Internal
            }
            Self::Run(_) | Self::Loop(_) => Exit::Failed,
            Self::Budget(_) => Exit::Budget,
            Self::Waiting(_) => Exit::Waiting,
            Self::Cancelled => Exit::Cancelled,
            Self::Unfinished { error, .. } => error.exit(),
        }
    }

    /// Returns true if the journal of a session has failed, so that no later part of it could be recorded.
    pub(crate) fn is_of_journal(&self) -> bool {
        match self {
            Self::Unfinished { error, .. } => error.is_of_journal(),
            Self::Driver(DriverError::Journal(_)) => true,
            Self::Driver(DriverError::Tool(error)) => error.code() == ErrorCode::Internal,
            _ => false,
        }
    }

    /// Prints the error and its hints to standard error, and returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        let exit = self.exit();
        if exit != Exit::Success {
            notice::error(&self.to_string());
        }
        if let Self::Refused { hints, .. } = self {
            hints.iter().for_each(|hint| notice::hint(hint));
        }
        if let Self::NoProvider(steps) = self {
            steps.iter().for_each(|step| notice::hint(step));
        }
        if let Self::Unfinished { hint, .. }
        | Self::Command(CommandError {
            hint: Some(hint), ..
        }) = self
            && exit != Exit::Success
        {
            notice::hint(hint);
        }
        if let Self::Provider(ProviderError::Lookup(LookupError::Unknown { name, .. })) = self
            && let Some(advice) = linked::how_to_link(name)
        {
            notice::hint(advice);
        }
        exit
    }
}

fn waiting_advice(waiting: &[String]) -> String {
    if waiting.is_empty() {
        return "the session waits for none, so resume it without an answer".to_owned();
    }
    format!("use one of: {}", waiting.join(", "))
}

fn provider_exit(error: &ProviderError) -> Exit {
    match error {
        ProviderError::Lookup(LookupError::Unknown { .. }) => Exit::NotFound,
        ProviderError::Lookup(_) => Exit::Unavailable,
        ProviderError::Options { .. }
        | ProviderError::NoPrompt
        | ProviderError::Image { .. }
        | ProviderError::Prompt { .. }
        | ProviderError::ScriptFile { .. }
        | ProviderError::Script { .. } => Exit::Usage,
        ProviderError::Arguments { .. } => Exit::InvalidArguments,
        _ => Exit::Failed,
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::new(error.exit(), error)
    }
}

/// Says that a run ended at a limit, and how to raise it.
fn message(exhausted: &Exhausted) -> String {
    let limit = exhausted.limit;
    let key = match exhausted.resource {
        Resource::Steps => "max_steps",
        Resource::Calls => "max_calls",
        Resource::Tokens => "max_tokens",
        _ => "max_cost",
    };
    if let BudgetScope::Window(name) = &exhausted.scope {
        let table = if name == "day" { "daily" } else { "monthly" };
        return format!("no answer: {exhausted}; wait for the next {name}, or raise {table}.{key}");
    }
    let (amount, advice) = match exhausted.resource {
        Resource::Steps => (counted(limit, "step"), "more steps with --max-steps"),
        Resource::Calls => (counted(limit, "call"), "more calls with --max-calls"),
        Resource::Tokens => (counted(limit, "token"), "more with --max-tokens"),
        Resource::Time => {
            let time = duration::format(Duration::from_millis(limit));
            (time, "more time with --deadline")
        }
        _ => return format!("no answer: {exhausted}; raise limits.{key}"),
    };
    format!("no answer after {amount}; allow {advice}")
}
