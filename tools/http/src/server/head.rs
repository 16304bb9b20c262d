//! The headers that name the server and the page of a request.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, StatusCode, Uri};

use super::ServerAnswer;

/// Checks that a request names one server, and at most one page, without more than their names. Others may read one that names two
/// differently. Returns the server's name.
///
/// # Errors
/// Returns the answer of a refusal.
pub fn check_names(target: &Uri, headers: &HeaderMap) -> Result<Authority, ServerAnswer> {
    let host = single_header(headers, &HOST).filter(|host| is_name(host));
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        let reason = "exactly one header Host with a name and a port is required";
        return Err(ServerAnswer::new(StatusCode::BAD_REQUEST, reason));
    };
    if target.authority().is_some_and(|named| *named != host) {
        let reason = "the target and the header Host differ";
        return Err(ServerAnswer::new(StatusCode::BAD_REQUEST, reason));
    }
    if headers.contains_key(ORIGIN) && !single_header(headers, &ORIGIN).is_some_and(is_page) {
        let reason = "at most one header Origin with a scheme, a name and a port is allowed";
        return Err(ServerAnswer::forbidden(reason));
    }
    Ok(host)
}

/// Checks that a request names the port that is served, or none. `names` are allowed names of the server: one with a port allows that
/// port, as that of a proxy.
///
/// # Errors
/// Returns the answer of a refusal.
pub fn check_port(host: &Authority, port: u16, names: &[String]) -> Result<(), ServerAnswer> {
    // Without digits after it, a colon names no port.
    let named = host
        .as_str()
        .rsplit_once(':')
        .map(|(_, named)| named)
        .filter(|named| !named.ends_with(']'));
    let mut names = names.iter();
    let is_named = names.any(|name| name.eq_ignore_ascii_case(host.as_str()));
    match named {
        Some(named) if named != port.to_string() && !is_named => Err(ServerAnswer::forbidden(
            "this port of the host is not allowed",
        )),
        _ => Ok(()),
    }
}

fn is_page(origin: &str) -> bool {
    let name = origin.split_once("://").map_or(origin, |(_, name)| name);
    is_name(name) || origin.eq_ignore_ascii_case("null")
}

/// Returns the value of a header that is there once.
pub fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns true if a text is a host and perhaps a port, without a user or a path.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c))
}
