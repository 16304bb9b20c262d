//! [`AllowedHosts`]: the names of a server.

use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri};

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names that requests may have as `Host`. Another name is that of a page that a browser was led here from.
#[derive(Debug)]
pub(super) struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    /// Creates the names of a server at an address, and further ones.
    pub(super) fn new(address: SocketAddr, further: &[String]) -> Self {
        let own = match address.ip() {
            ip if ip.is_unspecified() => None,
            IpAddr::V4(ip) => Some(ip.to_string()),
            IpAddr::V6(ip) => Some(format!("[{ip}]")),
        };
        let further = further.iter().map(|host| host.to_ascii_lowercase());
        Self(LOOPBACK.into_iter().map(str::to_owned).chain(own).chain(further).collect())
    }

    /// Checks that a request names this server once, and comes from no web page.
    ///
    /// # Errors
    /// Returns the status and the reason of a refusal.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok().filter(|host| is_name(host)),
            _ => None,
        };
        let Some(host) = host.and_then(|host| host.to_ascii_lowercase().parse::<Authority>().ok()) else {
            return Err((StatusCode::BAD_REQUEST, "exactly one header Host with a name and a port is required"));
        };
        let is_other = |named: &Authority| !named.as_str().eq_ignore_ascii_case(host.as_str());
        if target.authority().is_some_and(is_other) {
            return Err((StatusCode::BAD_REQUEST, "the target and the header Host differ"));
        }
        if !self.0.iter().any(|allowed| allowed == host.as_str() || allowed == host.host()) {
            return Err((StatusCode::FORBIDDEN, "this host is not allowed"));
        }
        match headers.contains_key(ORIGIN) {
            true => Err((StatusCode::FORBIDDEN, "web pages are not allowed")),
            false => Ok(()),
        }
    }
}

/// Returns true if a text is a host and perhaps a port, without a user or a path.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c))
}
