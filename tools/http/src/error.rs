//! [`HttpError`]: the errors of the client.

use std::net::IpAddr;
use std::time::Duration;

use http::HeaderName;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use tools::{ToolError, ToolErrorKind};
use url::Url;

/// The error of a request. The text is for a person or a model, and contains no secret.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The URL, or the redirect to it, is refused.
    #[error("\"{}\" cannot be requested: {reason}", show_url(.url))]
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
    /// The address is not public. The text leaves out the address: it would tell a model about the user's network.
    #[error(
        "{host} has an address that is not public; only the user's configuration can permit this host, in private_hosts"
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
    #[error("{} redirects more than {limit} times, or in a circle; request another URL", show_url(.url))]
    Redirects {
        /// The last URL.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The body is too large.
    #[error("the body of {} is longer than {limit} bytes; request a part of it, or another URL", show_url(.url))]
    TooLarge {
        /// The URL.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The headers are too many or too large.
    #[error("the headers of {} are longer than {limit} bytes, or too many; request another URL", show_url(.url))]
    Headers {
        /// The URL.
        url: String,
        /// The limit of their size.
        limit: usize,
    },
    /// The response took too long.
    #[error("{} did not answer within {limit:?}; try again later, or request another URL", show_url(.url))]
    Time {
        /// The URL.
        url: String,
        /// The limit.
        limit: Duration,
    },
    /// The call was cancelled.
    #[error("the request to {} was cancelled", show_url(.url))]
    Cancelled {
        /// The URL.
        url: String,
    },
    /// The host name has no address.
    #[error("the host of {} was not found: {reason}; check its spelling and the network", show_url(.url))]
    Lookup {
        /// The URL.
        url: String,
        /// The resolver's answer.
        reason: String,
    },
    /// No connection was made.
    #[error("no connection to {}: {reason}; check the port", show_url(.url))]
    Connect {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The server is not trusted, or does not speak TLS.
    #[error(
        "{} has no valid encryption: {reason}; check the host and port, or let the user add its root certificate",
        show_url(url)
    )]
    Tls {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The connection ended before the response did.
    #[error("the connection to {} broke off: {reason}; try again", show_url(.url))]
    Broken {
        /// The URL.
        url: String,
        /// The cause.
        reason: String,
    },
    /// The response is not valid HTTP, or its compression is damaged.
    #[error("the response of {} is invalid: {reason}; request another URL", show_url(.url))]
    Invalid {
        /// The URL.
        url: String,
        /// The fault.
        reason: String,
    },
    /// The request failed for another reason.
    #[error("the request to {} failed: {reason}; request another URL", show_url(.url))]
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

/// Defines a constructor of each error of one URL.
macro_rules! constructors {
    ($($name:ident: $variant:ident { $field:ident: $of:ty },)*) => {
        impl HttpError {
            $(pub(crate) fn $name(url: &Url, $field: impl Into<$of>) -> Self {
                Self::$variant { url: url.to_string(), $field: $field.into() }
            })*
        }
    };
}

constructors! {
    url: Url { reason: String },
    refused: Refused { error: Box<ToolError> },
    too_large: TooLarge { limit: usize },
    headers: Headers { limit: usize },
    time: Time { limit: Duration },
    lookup: Lookup { reason: String },
    connect: Connect { reason: String },
    tls: Tls { reason: String },
    broken: Broken { reason: String },
    invalid: Invalid { reason: String },
    failed: Failed { reason: String },
}

impl HttpError {
    pub(crate) fn option(option: &'static str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Option { option, reason }
    }
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

/// Returns the start of a URL for a message, without spaces, control characters and quotes: a server may have chosen it, and its words
/// must not look like those of the message.
pub(crate) fn show_url(url: &str) -> String {
    const MAX_SHOWN: usize = 200;
    const ESCAPED: &AsciiSet = &CONTROLS
        .add(b' ')
        .add(b'"')
        .add(b'\'')
        .add(b'<')
        .add(b'>')
        .add(b'\\')
        .add(b'`')
        .add(b'{')
        .add(b'|')
        .add(b'}');
    // Of longer text, the rest is not shown anyway.
    let start = url
        .char_indices()
        .nth(MAX_SHOWN + 1)
        .map_or(url, |(end, _)| &url[..end]);
    let mut shown = utf8_percent_encode(start, ESCAPED).to_string();
    if shown.len() > MAX_SHOWN {
        shown.truncate(MAX_SHOWN);
        shown.push_str("...");
    }
    shown
}
