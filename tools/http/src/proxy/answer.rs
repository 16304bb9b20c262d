//! The answers of the proxy.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use tools::protocol::Target;
use tools::visible_line;

use crate::error::HttpError;
use crate::headers;

/// A body of a server, or of the proxy itself.
pub(super) type Body = Either<Incoming, Full<Bytes>>;

/// Removes the headers of one connection, and those that frame a message: they are written again. Names with `_` are removed too, because
/// some servers read them as names with `-`.
pub(super) fn remove_connection_headers(headers: &mut HeaderMap) {
    const OF_CONNECTION: [HeaderName; 6] = [
        header::CONNECTION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        HeaderName::from_static("keep-alive"),
    ];
    let named = headers.get_all(header::CONNECTION).iter();
    let named: Vec<HeaderName> = named
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    headers::remove(headers, |name| {
        named.contains(name)
            || OF_CONNECTION.contains(name)
            || name.as_str().starts_with("proxy-")
            || name.as_str().contains('_')
    });
}

/// The length of a sentence in characters.
const MAX_SENTENCE: usize = 300;

/// Why a request was refused.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// The grant and the rules do not permit these targets.
    Unpermitted(Vec<Target>),
    /// A tunnel to this host was used for another one.
    Tunnel { host: String, reason: String },
    /// The request is not one that the proxy answers.
    Request(&'static str),
    /// The host or its address is refused, or the request failed.
    Failed(HttpError),
}

impl Refusal {
    /// Returns the answer of the proxy itself.
    pub(super) fn response(&self) -> Response<Body> {
        let text = format!("toolcrib: {}\n", self.sentence());
        let mut response = Response::new(Either::Right(Full::from(text)));
        *response.status_mut() = self.status();
        let plain = HeaderValue::from_static("text/plain");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
        response
    }

    /// Returns the status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Unpermitted(_)
            | Self::Tunnel { .. }
            | Self::Failed(HttpError::Address { .. }) => StatusCode::FORBIDDEN,
            Self::Request(_) | Self::Failed(HttpError::Url { .. }) => StatusCode::BAD_REQUEST,
            Self::Failed(HttpError::Time { .. }) => StatusCode::GATEWAY_TIMEOUT,
            Self::Failed(_) => StatusCode::BAD_GATEWAY,
        }
    }

    /// Returns a sentence for the program and for the model.
    pub(super) fn sentence(&self) -> String {
        let text = match self {
            Self::Unpermitted(targets) => {
                let clauses = targets.iter().map(|target| target.to_clause().to_string());
                let clauses: Vec<_> = clauses.collect();
                let host = targets.first().map_or("", Target::value);
                format!(
                    "{host} is not among the hosts that the grant names; ask for {}",
                    clauses.join(" and ")
                )
            }
            Self::Tunnel { host, reason } => format!("the tunnel to {host} was closed: {reason}"),
            Self::Request(reason) => (*reason).to_owned(),
            Self::Failed(error) => error.to_string(),
        };
        // The program chose some of the words.
        visible_line(&text, MAX_SENTENCE)
    }
}
