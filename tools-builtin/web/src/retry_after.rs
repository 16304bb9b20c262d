//! [`retry_after`]: the header `Retry-After`.

use std::time::{Duration, SystemTime};

use tools_http::Response;

/// Returns the time of `Retry-After`, in seconds or as a date.
pub(crate) fn retry_after(response: &Response, now: SystemTime) -> Option<Duration> {
    let text = response.headers.get("retry-after")?.to_str().ok()?.trim();
    let seconds = text.parse().map(Duration::from_secs).ok();
    seconds.or_else(|| Some(httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()))
}
