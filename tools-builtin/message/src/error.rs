//! [`ChannelError`] and [`SendError`]: the errors of the settings of a channel, and of a message.

use tools::{ToolError, ToolErrorKind};
use tools_http::HttpError;

/// The error of the settings of a channel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The name of a channel has other characters, or a meaning of its own.
    #[error(
        "the name {name:?} of a channel cannot be used; take up to 64 letters, digits, `-`, `_` and `.`, and not `reply`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A field cannot be used. The reason does not repeat a secret.
    #[error("{field} {reason}")]
    Field {
        /// The field.
        field: &'static str,
        /// The end of a sentence that begins with the field, with the repair.
        reason: String,
    },
}

/// Creates a [`ChannelError::Field`].
pub(crate) fn field(field: &'static str, reason: impl Into<String>) -> ChannelError {
    let reason = reason.into();
    ChannelError::Field { field, reason }
}

/// The error of a message.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message was not sent, and certainly does not arrive.
    #[error("the message was not sent: {reason}")]
    NotSent {
        /// The cause, and the next step.
        reason: String,
        /// True if the same message may be sent later.
        is_transient: bool,
    },
    /// The message may have arrived.
    #[error(
        "the message may have arrived, or not: {reason}; do not send it again, and tell the user about it"
    )]
    Unclear {
        /// The cause.
        reason: String,
    },
    /// The call was refused or cancelled before the message was sent.
    #[error("{0}")]
    Refused(Box<ToolError>),
}

impl SendError {
    /// Creates the error of a message that was not sent, with the cause and the next step.
    pub fn not_sent(reason: impl Into<String>) -> Self {
        Self::NotSent {
            reason: reason.into(),
            is_transient: false,
        }
    }

    /// Creates the error of a message that was not sent and may be sent later.
    pub fn later(reason: impl Into<String>) -> Self {
        Self::NotSent {
            reason: reason.into(),
            is_transient: true,
        }
    }

    /// Creates the error of a message that may have arrived.
    pub fn unclear(reason: impl Into<String>) -> Self {
        Self::Unclear {
            reason: reason.into(),
        }
    }

    /// Converts the error of a request that has the message. Its text names no URL, which may contain a secret.
    pub fn from_request(error: HttpError) -> Self {
        match error {
            HttpError::Broken { .. } => Self::unclear("the connection ended before the answer"),
            HttpError::Time { limit, .. } => {
                Self::unclear(format!("the server did not answer within {limit:?}"))
            }
            HttpError::Invalid { .. } | HttpError::TooLarge { .. } | HttpError::Headers { .. } => {
                Self::unclear("the server gave an invalid answer")
            }
            HttpError::Cancelled { .. } => Self::unclear("the call was cancelled"),
            // The server has answered with a redirect.
            HttpError::Redirects { .. } | HttpError::Url { .. } => {
                Self::unclear("the server redirects, perhaps after it took the message")
            }
            HttpError::Failed { .. } => Self::unclear("the request failed after it began"),
            error => Self::from_connecting(error),
        }
    }

    /// Converts an error from before the message was sent. Its text names no URL, which may contain a secret.
    pub fn from_connecting(error: HttpError) -> Self {
        match error {
            HttpError::Refused { error, .. } => Self::Refused(error),
            HttpError::Cancelled { .. } => Self::Refused(Box::new(ToolErrorKind::Cancelled.into())),
            // Names the host alone.
            HttpError::Address { .. } => Self::not_sent(error.to_string()),
            HttpError::Lookup { .. } => Self::later("the host of the channel was not found"),
            HttpError::Connect { .. } | HttpError::Broken { .. } => {
                Self::later("no connection to the server of the channel")
            }
            HttpError::Time { limit, .. } => Self::later(format!(
                "no connection to the server of the channel within {limit:?}"
            )),
            HttpError::Tls { .. } => Self::not_sent(
                "the server of the channel has no valid encryption; ask the user to check the channel's settings, or http.ca_file",
            ),
            _ => Self::not_sent("the channel cannot be used; ask the user to check its settings"),
        }
    }
}

impl From<SendError> for ToolError {
    fn from(error: SendError) -> Self {
        let message = error.to_string();
        match error {
            SendError::Refused(error) => *error,
            // The tool is not idempotent, so the pipeline does not repeat it: this says that the model may.
            SendError::NotSent {
                is_transient: true, ..
            } => Self::transient(message),
            SendError::NotSent { .. } | SendError::Unclear { .. } => {
                Self::execution_failed(message)
            }
        }
    }
}
