//! The answers of the proxy.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use http_body_util::{Either, Full};
use hyper::body::Incoming;

use super::refused::Refusal;
use crate::headers;

/// A body of a server, or of the proxy itself.
pub(super) type Body = Either<Incoming, Full<Bytes>>;

/// Returns the answer of the proxy itself.
pub(super) fn refusal(refusal: &Refusal) -> Response<Body> {
    let mut response = Response::new(Either::Right(Full::from(format!(
        "toolcrib: {}\n",
        refusal.sentence()
    ))));
    *response.status_mut() = refusal.status();
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

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
