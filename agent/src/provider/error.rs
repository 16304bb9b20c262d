//! [`ProviderError`]: why there is no turn.

use std::path::PathBuf;
use std::time::Duration;

use tools::Source;

use crate::ArgumentError;

/// Why there is no provider, or why it gave no turn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No provider has that name.
    #[error("there is no provider named {name:?}; use one of: {}", listed(known))]
    Unknown {
        /// The name asked for.
        name: String,
        /// The providers there are, sorted.
        known: Vec<String>,
    },
    /// Several linked crates claim the name, so none of them is used.
    #[error("the provider {name} is declared by {}; unlink or rename one of them", joined(sources))]
    Conflict {
        /// The name asked for.
        name: String,
        /// All places that declare it.
        sources: Vec<Source>,
    },
    /// It cannot be made with these options.
    #[error("the provider {provider} cannot be used: {reason}")]
    Options {
        /// The provider.
        provider: String,
        /// What is wrong, and what to give instead.
        reason: String,
    },
    /// The conversation has nothing to answer.
    #[error("the conversation has no message of a user; give a prompt")]
    NoPrompt,
    /// A prompt that is no list of tool calls, given to the provider that has no model.
    #[error(
        "cannot read the prompt as tool calls, at character {position}: {reason}; \
         write for example fs.list path=. ; time.now zone=UTC, or use a provider with a model"
    )]
    Prompt {
        /// Where reading stopped, in characters from 1.
        position: usize,
        /// What is wrong there.
        reason: String,
    },
    /// Arguments in a prompt that do not fit the tool's schema.
    #[error("cannot call {tool}: {source}")]
    Arguments {
        /// The tool.
        tool: String,
        /// What does not fit.
        source: ArgumentError,
    },
    /// A script that cannot be read.
    #[error("cannot read the script {}: {source}; give the path of a file of model turns", path.display())]
    ScriptFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A script that holds something else than turns.
    #[error(
        "the script{} does not hold model turns: {reason}; write an array such as \
         [{{\"calls\": [{{\"name\": \"time.now\"}}]}}, {{\"text\": \"done\"}}]",
        placed(path)
    )]
    Script {
        /// The file, where it came from one.
        path: Option<PathBuf>,
        /// What is wrong, and where.
        reason: String,
    },
    /// A script that has ended before the run has.
    #[error(
        "the script has no turn left after {turns}, which the conversation has; end it with one that has text and no calls"
    )]
    OutOfTurns {
        /// How many turns it has.
        turns: usize,
    },
    /// The provider panicked. The panic went no further.
    #[error("the provider {provider} panicked: {message}; this is a fault of the provider")]
    Panicked {
        /// The provider.
        provider: String,
        /// What the panic said.
        message: String,
    },
    /// The service answered with an error.
    #[error("the provider {provider} answered with status {status}: {message}{}", advice(*status))]
    Status {
        /// The provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// What the service said, without secrets.
        message: String,
        /// How long the service asks to be left alone, where it says so.
        retry_after: Option<Duration>,
    },
    /// The service could not be reached, or the connection broke.
    #[error("the provider {provider} could not be reached: {message}; check the network and the base URL")]
    Connection {
        /// The provider.
        provider: String,
        /// What happened.
        message: String,
    },
    /// The service kept silent for too long, or the deadline of the run came first.
    #[error("the provider {provider} gave no turn in time: {message}; try again, or give it longer")]
    Timeout {
        /// The provider.
        provider: String,
        /// What was waited for, and how long.
        message: String,
    },
    /// The service answered with something else than a whole turn.
    #[error("the provider {provider} gave no whole turn: {message}; try again, or check that it speaks this format")]
    Malformed {
        /// The provider.
        provider: String,
        /// What is wrong with the answer.
        message: String,
    },
    /// Anything else that a provider meets.
    #[error("the provider {provider} failed: {message}")]
    Failed {
        /// The provider.
        provider: String,
        /// What happened, and what to do about it.
        message: String,
    },
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "(there are none)".to_owned() } else { known.join(", ") }
}

pub(super) fn joined(sources: &[Source]) -> String {
    sources.iter().map(Source::to_string).collect::<Vec<_>>().join(" and by ")
}

fn advice(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check the key, and that it may use this model",
        404 => "; check the model and the base URL",
        408 | 425 | 429 | 500..=599 => "; try again later",
        _ => "; change what is asked for",
    }
}

fn placed(path: &Option<PathBuf>) -> String {
    path.as_ref().map(|path| format!(" {}", path.display())).unwrap_or_default()
}
