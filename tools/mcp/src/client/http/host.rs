//! The host of a server's URL.

use tools_http::Url;

/// Returns the host of a URL as a target of the scheme `net`, with the port if the URL names one.
pub(super) fn target(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
