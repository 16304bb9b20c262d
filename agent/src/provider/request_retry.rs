//! [`RequestRetry`]: a model request that is repeated, and the sink that receives it.

use std::fmt;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::FailureKind;
use crate::ProviderError;

/// A model request that failed and is repeated after a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RequestRetry {
    /// The number of the retry, from 1.
    pub retry: u32,
    /// The maximum number of retries of the request.
    pub max_retries: u32,
    /// The wait before the retry, in milliseconds.
    pub wait_ms: u64,
    /// The failure of the previous attempt.
    #[serde(flatten)]
    pub cause: RetryCause,
    /// True if the [text](crate::Event::Text) since the last turn is withdrawn: it is no part of the next attempt's turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub withdraws_text: bool,
}

/// The failure that a retry follows. Messages are those of the service or the network, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryCause {
    /// The service responded with an error status.
    Status {
        /// The HTTP status.
        status: u16,
        /// The kind of the error.
        kind: FailureKind,
        /// The error message of the service.
        message: String,
    },
    /// The service reported an error in a reply with the status of success, or in the stream of a reply.
    Reported {
        /// The kind of the error.
        kind: FailureKind,
        /// The error message of the service.
        message: String,
    },
    /// The service is unreachable, or the connection broke.
    Connection {
        /// The problem.
        message: String,
    },
    /// The service exceeded a timeout.
    Timeout {
        /// The exceeded limit.
        message: String,
    },
    /// Any other failure.
    Other {
        /// The error message.
        message: String,
    },
}

/// A receiver of the retries of a request.
#[derive(Clone, Copy)]
pub struct RetrySink<'a>(&'a (dyn Fn(RequestRetry) + Send + Sync));

impl RequestRetry {
    /// Creates a retry with its number from 1, the maximum number of retries, the wait in milliseconds and the cause.
    pub fn new(retry: u32, max_retries: u32, wait_ms: u64, cause: RetryCause) -> Self {
        Self {
            retry,
            max_retries,
            wait_ms,
            cause,
            withdraws_text: false,
        }
    }
}

impl RetryCause {
    /// Returns the kind of the failure. Returns `None` if it is not that of a request to a service.
    pub fn kind(&self) -> Option<FailureKind> {
        match self {
            Self::Status { kind, .. } | Self::Reported { kind, .. } => Some(*kind),
            Self::Connection { .. } | Self::Timeout { .. } => Some(FailureKind::Network),
            Self::Other { .. } => None,
        }
    }
}

impl Serialize for RetryCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (cause, message) = match self {
            Self::Status { message, .. } => ("status", message),
            Self::Reported { message, .. } => ("reported", message),
            Self::Connection { message } => ("connection", message),
            Self::Timeout { message } => ("timeout", message),
            Self::Other { message } => ("other", message),
        };
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("cause", cause)?;
        if let Self::Status { status, .. } = self {
            fields.serialize_entry("status", status)?;
        }
        if let Some(kind) = self.kind() {
            fields.serialize_entry("kind", &kind)?;
        }
        fields.serialize_entry("message", message)?;
        fields.end()
    }
}

impl From<&ProviderError> for RetryCause {
    fn from(error: &ProviderError) -> Self {
        match error {
            ProviderError::Status {
                status,
                kind,
                message,
                ..
            } => Self::Status {
                status: *status,
                kind: *kind,
                message: message.clone(),
            },
            ProviderError::Reported { kind, message, .. } => Self::Reported {
                kind: *kind,
                message: message.clone(),
            },
            ProviderError::Timeout { message, .. } => Self::Timeout {
                message: message.clone(),
            },
            ProviderError::Connection { message, .. } => Self::Connection {
                message: message.clone(),
            },
            _ => Self::Other {
                message: error.to_string(),
            },
        }
    }
}

impl fmt::Display for RetryCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status {
                status, message, ..
            } => write!(f, "status {status}: {message}"),
            Self::Reported { kind, message } => write!(f, "{kind}: {message}"),
            Self::Timeout { message } => write!(f, "timeout: {message}"),
            Self::Connection { message } => write!(f, "no connection: {message}"),
            Self::Other { message } => f.write_str(message),
        }
    }
}

impl<'a> RetrySink<'a> {
    /// Creates a sink from a function, which must not block.
    pub fn new(send: &'a (dyn Fn(RequestRetry) + Send + Sync)) -> Self {
        Self(send)
    }

    /// Sends a retry before its wait.
    pub fn send(&self, retry: RequestRetry) {
        (self.0)(retry);
    }
}
