//! The headers that name the server and the page of a request.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, StatusCode, Uri};

/// Checks that a request names one server, and at most one page, without more than their names. Others may read one that names two
/// differently.
///
/// # Errors
/// Returns the status and the reason of a refusal.
pub(super) fn check(target: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let host = only(headers, HOST).filter(|host| is_name(host)).and_then(|host| host.parse::<Authority>().ok());
    let Some(host) = host else {
        return Err((StatusCode::BAD_REQUEST, "exactly one header Host with a name and a port is required"));
    };
    if target.authority().is_some_and(|named| *named != host) {
        return Err((StatusCode::BAD_REQUEST, "the target and the header Host differ"));
    }
    if !headers.contains_key(ORIGIN) {
        return Ok(());
    }
    let origin = only(headers, ORIGIN).filter(|origin| {
        let name = origin.split_once("://").map_or(*origin, |(_, name)| name);
        is_name(name) || origin.eq_ignore_ascii_case("null")
    });
    origin
        .map(drop)
        .ok_or((StatusCode::FORBIDDEN, "at most one header Origin with a scheme, a name and a port is allowed"))
}

/// Returns the value of a header that is there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns true if a text is a host and perhaps a port, without a user or a path.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c))
}
