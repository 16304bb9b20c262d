//! [`RequestRetry`]: a model request that is repeated, and the sink that receives it.

use serde::Serialize;

use super::FailureKind;
use crate::provider::ProviderError;

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
    pub cause: RetryCause,
    /// The HTTP status of a [`RetryCause::Status`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The kind of the failure. `None` for [`RetryCause::Other`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<FailureKind>,
    /// The message of the service or the network, without secrets.
    pub message: String,
    /// True if the [text](crate::Event::Text) since the last turn is withdrawn: it is no part of the next attempt's turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub withdraws_text: bool,
}

/// The failure that a retry follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RetryCause {
    /// The service responded with an error status.
    Status,
    /// The service reported an error in a reply with the status of success, or in the stream of a reply.
    Reported,
    /// The service is unreachable, or the connection broke.
    Connection,
    /// The service exceeded a timeout.
    Timeout,
    /// Any other failure.
    Other,
}

/// A receiver of the retries of a request. It must not block.
pub type RetrySink<'a> = &'a (dyn Fn(RequestRetry) + Send + Sync);

impl RequestRetry {
    /// Creates the report of a retry that follows this error.
    pub fn new(retry: u32, max_retries: u32, wait_ms: u64, error: &ProviderError) -> Self {
        let (cause, status, message) = match error {
            ProviderError::Status {
                status, message, ..
            } => (RetryCause::Status, Some(*status), message.clone()),
            ProviderError::Reported { message, .. } => {
                (RetryCause::Reported, None, message.clone())
            }
            ProviderError::Connection { message, .. } => {
                (RetryCause::Connection, None, message.clone())
            }
            ProviderError::Timeout { message, .. } => (RetryCause::Timeout, None, message.clone()),
            _ => (RetryCause::Other, None, error.to_string()),
        };
        Self {
            retry,
            max_retries,
            wait_ms,
            cause,
            status,
            kind: error.kind().filter(|_| cause != RetryCause::Other),
            message,
            withdraws_text: false,
        }
    }

    /// Returns the cause with its message, in words.
    pub fn describe(&self) -> String {
        let message = &self.message;
        match (self.cause, self.status, self.kind) {
            (RetryCause::Status, Some(status), _) => format!("status {status}: {message}"),
            (RetryCause::Reported, _, Some(kind)) => format!("{kind}: {message}"),
            (RetryCause::Timeout, ..) => format!("timeout: {message}"),
            (RetryCause::Connection, ..) => format!("no connection: {message}"),
            _ => message.clone(),
        }
    }
}
