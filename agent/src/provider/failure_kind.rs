//! [`FailureKind`]: the kind of a provider's failure.

use std::fmt;

use serde::{Deserialize, Serialize};

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
