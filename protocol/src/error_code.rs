//! [`ErrorCode`]: the machine-readable reason why a call failed.

use std::fmt;
use std::str::FromStr;

use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde::{Deserialize, Serialize};

/// The stable code of a failed call, used in events, results, spans and journals. Its text and JSON forms are in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// No tool has the requested name.
    NotFound,
    /// Several linked crates declare the name.
    Conflict,
    /// The arguments do not match the schema, or make no valid target.
    InvalidArguments,
    /// The grant does not cover a target of the call.
    PermissionDenied,
    /// A person or a policy rule denied the call.
    Denied,
    /// The call needs an approval that was not given.
    Unapproved,
    /// The tool, or the effect that was shown, was replaced while its call waited for approval.
    Replaced,
    /// The host does not provide a service that the tool needs.
    Unavailable,
    /// The call could not wait for its turn, for example because a queue is full.
    Overloaded,
    /// The deadline of the call passed.
    Timeout,
    /// The caller cancelled the call.
    Cancelled,
    /// The tool panicked.
    Panicked,
    /// The tool failed.
    ExecutionFailed,
    /// The tool failed, but a retry may succeed.
    Transient,
    /// The result does not match the tool's output schema.
    InvalidOutput,
    /// The call was started in an earlier run, and the journal has no outcome of it.
    OutcomeUnknown,
    /// The journal recorded a different call at this position.
    Diverged,
    /// The pipeline failed, not the tool.
    Internal,
    /// The host declined to run the call.
    Refused,
    /// The tool returned a result with `is_error`.
    ToolError,
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        Self::deserialize(text.into_deserializer()).map_err(|_: Error| UnknownErrorCode {
            text: text.to_owned(),
        })
    }
}

/// The error for a text that is not an [`ErrorCode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown error code {text:?}; read it with the version of Toolcrib that wrote it")]
#[non_exhaustive]
pub struct UnknownErrorCode {
    /// The text as given.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_word_in_text_and_in_json() {
        for (code, word) in [
            (ErrorCode::Cancelled, "cancelled"),
            (ErrorCode::PermissionDenied, "permission_denied"),
        ] {
            assert_eq!((code.to_string().as_str(), word.parse()), (word, Ok(code)));
            assert_eq!(serde_json::to_value(code).unwrap(), word);
        }
        assert!("no_such_code".parse::<ErrorCode>().is_err());
    }
}
