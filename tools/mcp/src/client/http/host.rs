//! The host of a server's URL.

use tools_http::Url;

/// Returns true if the URL itself says that its host is this machine or in the user's network.
pub(super) fn is_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(std::net::IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(std::net::IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Returns the host of a URL as a target of the scheme `net`, with the port if the URL names one.
pub(super) fn target(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
