//! Decides where a redirect leads, and what is sent there.

use http::{HeaderMap, Method, StatusCode, header};

use crate::error::{HttpError, show_url};
use crate::hop::Hop;
use crate::{headers, location};

/// Returns the next request if the answer is a redirect. Returns `None` if it is not, or has no location.
///
/// - After 303, and after 301 and 302 of a `POST`, the next request is a `GET` without a body, as RFC 9110 (section 15.4) allows and
///   browsers do.
/// - To another origin, no body is sent, and of the headers only the [harmless](headers::HARMLESS) ones. They stay behind even if a
///   later redirect leads back, and so do secrets: the other origin chose the URL.
///
/// # Errors
/// Returns [`HttpError::Url`] if the location is refused, or a body would cross origins.
pub(crate) fn next(
    hop: &Hop,
    status: StatusCode,
    answered: &HeaderMap,
) -> Result<Option<Hop>, HttpError> {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let mut locations = answered.get_all(header::LOCATION).iter();
    let Some(first) = locations.next().filter(|_| is_redirect) else {
        return Ok(None);
    };
    if locations.any(|other| other != first) {
        let reason = "it redirects to several URLs; request one of them, or another URL";
        return Err(HttpError::url(&hop.url, reason.to_owned()));
    }
    let mut next = Hop {
        url: location::follow(&hop.url, first.as_bytes())?,
        ..hop.clone()
    };
    let becomes_get = match status {
        StatusCode::SEE_OTHER => hop.method != Method::HEAD,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => hop.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        (next.method, next.body) = (Method::GET, None);
        headers::remove(&mut next.headers, |name| {
            name.as_str().starts_with("content-")
        });
    }
    if next.url.origin() != hop.url.origin() {
        next.is_own = false;
        if next.body.is_some() {
            return Err(HttpError::url(
                &next.url,
                format!(
                    "{} redirects a body to it, another origin; send the request to it directly",
                    show_url(hop.url.as_str())
                ),
            ));
        }
        headers::remove(&mut next.headers, |name| !headers::HARMLESS.contains(name));
    }
    Ok(Some(next))
}
