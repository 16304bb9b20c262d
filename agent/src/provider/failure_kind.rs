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
    /// Returns the next step.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Authentication => "check the key",
            Self::Permission => "check the key and its access to this model",
            Self::RateLimit | Self::Overloaded | Self::Internal => "try again later",
            Self::Quota => "check the credit and the plan of the account",
            Self::ContextLength => "shorten the conversation, or use a model with a larger context",
            Self::ContentPolicy => "change the prompt",
            Self::BadSchema => "correct the parameters of the tool",
            Self::UnknownModel => "check the model and the base URL",
            Self::BadRequest => "change the request",
            Self::Network => "check the network and the base URL",
            Self::MalformedReply => "try again, or check that the service uses this format",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::RateLimit => "rate limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::Internal => "internal error",
            Self::ContextLength => "context length",
            Self::ContentPolicy => "content policy",
            Self::BadSchema => "bad schema",
            Self::UnknownModel => "unknown model",
            Self::BadRequest => "bad request",
            Self::Network => "network",
            Self::MalformedReply => "malformed reply",
        })
    }
}
