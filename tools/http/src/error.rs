//! [`HttpError`]: the errors of the client.

use std::net::IpAddr;
use std::time::Duration;

use http::HeaderName;
use tools::{ToolError, ToolErrorKind};

/// The error of a request. The text is for a person or a model, and contains no secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The URL, or the redirect to it, is refused.
    #[error("{url:?} cannot be requested: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// The fault and its repair.
        reason: String,
    },
    /// The tool set a header that only the client may set.
    #[error("the header {name} is set by the HTTP client only; leave it out")]
    Header {
        /// The name.
        name: HeaderName,
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
    /// There are too many redirects, or they lead back to where they came from.
    #[error("{url} redirects more than {limit} times, or in a circle; request another URL")]
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
    /// The headers are too many or too large.
    #[error("the headers of {url} are longer than {limit} bytes, or too many; request another URL")]
    Headers {
        /// The URL.
        url: String,
        /// The limit of their size.
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
    /// The call was cancelled.
    #[error("the request to {url} was cancelled")]
    Cancelled {
        /// The URL.
        url: String,
    },
    /// The host name has no address.
    #[error("the host of {url} was not found: {reason}; check its spelling and the network")]
    Lookup {
        /// The URL.
        url: String,
        /// The resolver's answer.
        reason: String,
    },
    /// No connection was made.
    #[error("no connection to {url}: {reason}; check the port, or try again later")]
    Connect {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The server is not trusted, or does not speak TLS.
    #[error(
        "{url} has no valid encryption: {reason}; check the host and port, or let the user add its root certificate"
    )]
    Tls {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The connection ended before the response did.
    #[error("the connection to {url} broke off: {reason}; try again")]
    Broken {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The response is not valid HTTP, or its compression is damaged.
    #[error("the response of {url} is invalid: {reason}; request another URL")]
    Invalid {
        /// The URL.
        url: String,
        /// The fault.
        reason: String,
    },
    /// The request failed for another reason.
    #[error("the request to {url} failed: {reason}; request another URL")]
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
    /// Converts refusals to themselves, and broken or refused connections to transient errors, which the pipeline may retry.
    fn from(error: HttpError) -> Self {
        let message = error.to_string();
        match error {
            HttpError::Refused { error, .. } => *error,
            HttpError::Cancelled { .. } => ToolErrorKind::Cancelled.into(),
            HttpError::Broken { .. } | HttpError::Connect { .. } => Self::transient(message),
            HttpError::Secret { .. } | HttpError::Option { .. } => {
                ToolErrorKind::Unavailable { reason: message }.into()
            }
            _ => Self::execution_failed(message),
        }
    }
}
