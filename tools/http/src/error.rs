//! [`HttpError`]: the errors of the client.

use std::net::IpAddr;
use std::time::Duration;

use tools::ToolError;

/// The error of a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The URL is refused.
    #[error("{url:?} cannot be requested: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// The fault and its repair.
        reason: String,
    },
    /// The address is not public.
    #[error(
        "{host} has the address {address}, which is not public; only the user's configuration can permit this host"
    )]
    Address {
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
    },
    /// The grant, the policy or the person does not permit a host.
    #[error("{error}")]
    Refused {
        /// The URL that was not requested.
        url: String,
        /// The refusal.
        error: Box<ToolError>,
    },
    /// There are too many redirects.
    #[error("{url} redirects more than {limit} times; request another URL")]
    Redirects {
        /// The last URL.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The body is too large.
    #[error("the body of {url} is longer than {limit} bytes; request a part of it, or another URL")]
    TooLarge {
        /// The URL.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The headers are too large.
    #[error("the headers of {url} are longer than {limit} bytes; request another URL")]
    Headers {
        /// The URL.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The response took too long.
    #[error("{url} did not answer within {limit:?}; try again later, or request another URL")]
    Time {
        /// The URL.
        url: String,
        /// The limit.
        limit: Duration,
    },
    /// The request failed.
    #[error("the request to {url} failed: {reason}")]
    Failed {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// A secret cannot be used.
    #[error("the secret {name} cannot be used: {reason}")]
    Secret {
        /// The name.
        name: String,
        /// The fault and its repair.
        reason: String,
    },
    /// An option cannot be used.
    #[error("the option {option} of the HTTP client cannot be used: {reason}")]
    Option {
        /// The option.
        option: &'static str,
        /// The fault and its repair.
        reason: String,
    },
    /// A body is not JSON of the expected form.
    #[error("the body is not the expected JSON: {reason}")]
    Json {
        /// The fault.
        reason: String,
    },
}

impl From<HttpError> for ToolError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Refused { error, .. } => *error,
            error => Self::execution_failed(error.to_string()),
        }
    }
}
