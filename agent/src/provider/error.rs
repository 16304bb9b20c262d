//! [`ProviderError`]: errors of providers.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tools::linked::LookupError;

use crate::argument::ArgumentError;

/// A prompt of tool calls.
pub(super) const CALLS: &str = "fs.list path=. ; time.now zone=UTC";

/// An error in finding or creating a provider, or in its response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No linked provider has this name, or several crates claim it.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The provider cannot be created from its options.
    #[error("the provider {provider} cannot be used: {reason}")]
    Options {
        /// The name of the provider.
        provider: String,
        /// The problem and the next step.
        reason: String,
    },
    /// The conversation has no user message to answer.
    #[error("the conversation has no user message; give a prompt")]
    NoPrompt,
    /// The model does not take an image of the prompt.
    #[error("{model} cannot take an image of the prompt: {reason}")]
    Image {
        /// The model, or the provider if it names none.
        model: String,
        /// The problem and the next step.
        reason: String,
    },
    /// The direct provider cannot parse the prompt as tool calls.
    #[error(
        "the provider direct has no model, and its prompt is tool calls, such as '{}'; at character {position}: {reason}; \
         write such calls, or use a provider with a model",
        CALLS
    )]
    Prompt {
        /// The position of the problem, in characters from 1.
        position: usize,
        /// The problem at that position.
        reason: String,
    },
    /// The arguments in a prompt do not match the tool's schema.
    #[error("cannot call {tool}: {source}")]
    Arguments {
        /// The name of the tool.
        tool: String,
        /// The argument that does not match.
        source: ArgumentError,
    },
    /// The script file cannot be read.
    #[error("cannot read the script {}: {source}; give the path of a file of model turns", path.display())]
    ScriptFile {
        /// The path of the script.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The script is not an array of model turns.
    #[error(
        "the script{} does not hold model turns: {reason}; write an array such as \
         [{{\"calls\": [{{\"name\": \"time.now\"}}]}}, {{\"text\": \"done\"}}]",
        name_place(path)
    )]
    Script {
        /// The path of the script; `None` if it was not loaded from a file.
        path: Option<PathBuf>,
        /// The problem and its position.
        reason: String,
    },
    /// The script has fewer turns than the run needs.
    #[error(
        "the script has no turn left: the conversation has used all {turns}; end the script with a turn of text without calls"
    )]
    OutOfTurns {
        /// The number of turns in the script.
        turns: usize,
    },
    /// The provider panicked. The panic was caught.
    #[error("the provider {provider} panicked: {message}; report this bug to its author")]
    Panicked {
        /// The name of the provider.
        provider: String,
        /// The message of the panic.
        message: String,
    },
    /// The service responded with an error status.
    #[error("the provider {provider} answered with status {status} ({kind}): {message}; {}", kind.advice())]
    Status {
        /// The name of the provider.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The kind of the error, from its code or else its status.
        kind: FailureKind,
        /// The error message of the service, without secrets.
        message: String,
        /// The delay that the service requests before a retry; `None` if it requests none.
        retry_after: Option<Duration>,
    },
    /// The service reported an error in a reply with the status of success, or in the stream of a reply.
    #[error("the provider {provider} reported an error ({kind}): {message}; {}", kind.advice())]
    Reported {
        /// The name of the provider.
        provider: String,
        /// The kind of the error, from its code.
        kind: FailureKind,
        /// The HTTP status that the error names; `None` if it names none.
        status: Option<u16>,
        /// The error message of the service, without secrets.
        message: String,
        /// The delay that the service requests before a retry; `None` if it requests none.
        retry_after: Option<Duration>,
    },
    /// The service is unreachable, or the connection broke.
    #[error(
        "the provider {provider} could not be reached: {message}; check the network and the base URL"
    )]
    Connection {
        /// The name of the provider.
        provider: String,
        /// The problem.
        message: String,
    },
    /// The service exceeded a timeout, or the run reached its deadline.
    #[error("the provider {provider} timed out: {message}; try again, or raise its timeouts")]
    Timeout {
        /// The name of the provider.
        provider: String,
        /// The exceeded limit.
        message: String,
    },
    /// The service returned an incomplete or invalid turn.
    #[error(
        "the provider {provider} returned no complete turn: {message}; try again, or check that the service uses this format"
    )]
    Malformed {
        /// The name of the provider.
        provider: String,
        /// The problem with the response.
        message: String,
    },
    /// The model's turns had neither text nor calls.
    #[error(
        "the model of the provider {provider} answered with neither text nor a call; try again, or use another model"
    )]
    NoAnswer {
        /// The name of the provider.
        provider: String,
    },
    /// Any other failure of a provider.
    #[error("the provider {provider} failed: {message}")]
    Failed {
        /// The name of the provider.
        provider: String,
        /// The problem and the next step.
        message: String,
    },
}

impl ProviderError {
    /// Creates the error of a provider that these options do not permit.
    pub fn options(provider: impl Into<String>, reason: impl Into<String>) -> Self {
        let provider = provider.into();
        let reason = reason.into();
        Self::Options { provider, reason }
    }

    /// Returns the kind of the failed request. Returns `None` if the error is not that of a request to a service.
    pub fn kind(&self) -> Option<FailureKind> {
        match self {
            Self::Status { kind, .. } | Self::Reported { kind, .. } => Some(*kind),
            Self::Connection { .. } | Self::Timeout { .. } => Some(FailureKind::Network),
            Self::Malformed { .. } | Self::NoAnswer { .. } => Some(FailureKind::MalformedReply),
            _ => None,
        }
    }
}

fn name_place(path: &Option<PathBuf>) -> String {
    path.as_ref()
        .map(|path| format!(" {}", path.display()))
        .unwrap_or_default()
}

/// A receiver of the attempts that failed after the service had begun its reply, such as a stream that broke off.
///
/// A service bills the prompt of such an attempt but reports no usage, so budgets count its estimated tokens. A provider that makes
/// several attempts calls the sink after each one, the last one included. The sink must not block.
pub type LostReplySink<'a> = &'a (dyn Fn() + Send + Sync);

/// The kind of a failed model request. Providers read it from the codes of their service, so that programs need not read messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The key is missing or invalid.
    Authentication,
    /// The key has no access to the model or the function.
    Permission,
    /// There were too many requests or tokens in a short time.
    RateLimit,
    /// The account has no credit, or has used up its plan.
    Quota,
    /// The service has no free capacity.
    Overloaded,
    /// The service failed by its own fault.
    Internal,
    /// The conversation is longer than the context of the model, or the request larger than the service takes.
    ContextLength,
    /// The service refuses the content.
    ContentPolicy,
    /// The service refuses the schema of a tool.
    BadSchema,
    /// The service has no such model.
    UnknownModel,
    /// The service refuses the request for another reason.
    BadRequest,
    /// The service is unreachable, the connection broke, or a timeout passed.
    Network,
    /// The reply is incomplete or invalid.
    MalformedReply,
}

impl FailureKind {
    /// Returns the words for the kind, and the next step.
    fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Authentication => ["authentication", "check the key"],
            Self::Permission => ["permission", "check the key and its access to this model"],
            Self::RateLimit => ["rate limit", "try again later"],
            Self::Quota => ["quota", "check the credit and the plan of the account"],
            Self::Overloaded => ["overloaded", "try again later"],
            Self::Internal => ["internal error", "try again later"],
            Self::ContextLength => ["context length", SHORTEN],
            Self::ContentPolicy => ["content policy", "change the prompt"],
            Self::BadSchema => ["bad schema", "correct the parameters of the tool"],
            Self::UnknownModel => ["unknown model", "check the model and the base URL"],
            Self::BadRequest => ["bad request", "change the request"],
            Self::Network => ["network", "check the network and the base URL"],
            Self::MalformedReply => ["malformed reply", CHECK_FORMAT],
        }
    }

    /// Returns true if another model may take over: the service has no capacity or no credit for this one, or does not have it.
    pub fn permits_fallback(self) -> bool {
        matches!(
            self,
            Self::Overloaded | Self::RateLimit | Self::Quota | Self::UnknownModel
        )
    }

    /// Returns the next step.
    pub(super) fn advice(self) -> &'static str {
        self.texts()[1]
    }
}

const SHORTEN: &str = "shorten the conversation, or use a model with a larger context";
const CHECK_FORMAT: &str = "try again, or check that the service uses this format";

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts()[0])
    }
}
