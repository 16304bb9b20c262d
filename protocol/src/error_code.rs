//! [`ErrorCode`]: why a call failed, in one word.

use std::fmt;
use std::str::FromStr;

use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde::{Deserialize, Serialize};

/// One stable word for why a call failed: in events, results, spans and journals. As text and as JSON it is in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// No tool has that name.
    NotFound,
    /// Several linked crates declare the name.
    Conflict,
    /// The arguments do not fit.
    InvalidArguments,
    /// The grant does not cover what the call would touch.
    PermissionDenied,
    /// A person or a rule refused the call.
    Denied,
    /// An approval was needed and was not given.
    Unapproved,
    /// The tool was replaced while its call was being approved.
    Replaced,
    /// The host does not offer what the tool needs.
    Unavailable,
    /// Too many calls at once.
    Overloaded,
    /// The deadline passed.
    Timeout,
    /// The caller cancelled the call.
    Cancelled,
    /// The tool panicked.
    Panicked,
    /// The tool failed.
    ExecutionFailed,
    /// The tool failed, and the same call may succeed later.
    Transient,
    /// The result does not fit the tool's definition.
    InvalidOutput,
    /// The call was begun before, and its outcome is not on record.
    OutcomeUnknown,
    /// The journal has another call at this place.
    Diverged,
    /// The machinery around the tool is broken.
    Internal,
    /// The host did not run the call, for a reason of its own.
    Refused,
    /// The tool returned a result that is an error.
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
        Self::deserialize(text.into_deserializer()).map_err(|_: Error| UnknownErrorCode { text: text.to_owned() })
    }
}

/// A word that is no [`ErrorCode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no error code; read it with the version that wrote it")]
#[non_exhaustive]
pub struct UnknownErrorCode {
    /// The word.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_word_in_text_and_in_json() {
        for (code, word) in [(ErrorCode::Cancelled, "cancelled"), (ErrorCode::PermissionDenied, "permission_denied")] {
            assert_eq!((code.to_string().as_str(), word.parse()), (word, Ok(code)));
            assert_eq!(serde_json::to_value(code).unwrap(), word);
        }
        assert!("no_such_code".parse::<ErrorCode>().is_err());
    }
}
