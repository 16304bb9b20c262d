//! [`AllowedHosts`]: the names of a server.

use std::net::{IpAddr, SocketAddr};

use http::header::ORIGIN;
use http::{HeaderMap, StatusCode, Uri};

use super::{ServerAnswer, check_names, check_port};

/// The names of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names that requests may have as `Host`. Another name is that of a page that a browser was led here from.
#[derive(Debug)]
pub(super) struct AllowedHosts {
    names: Vec<String>,
    port: u16,
}

impl AllowedHosts {
    /// Creates the names of a server at an address, and further ones.
    pub(super) fn new(address: SocketAddr, further: &[String]) -> Self {
        let own = match address.ip() {
            ip if ip.is_unspecified() => None,
            IpAddr::V4(ip) => Some(ip.to_string()),
            IpAddr::V6(ip) => Some(format!("[{ip}]")),
        };
        let names = LOOPBACK.into_iter().map(str::to_owned).chain(own).chain(further.iter().cloned());
        Self { names: names.collect(), port: address.port() }
    }

    /// Checks that a request names this server once, and comes from no web page.
    ///
    /// # Errors
    /// Returns the answer of a refusal.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), ServerAnswer> {
        let host = check_names(target, headers)?;
        let is_host =
            |allowed: &String| [host.as_str(), host.host()].iter().any(|host| host.eq_ignore_ascii_case(allowed));
        if !self.names.iter().any(is_host) {
            return Err(ServerAnswer::new(StatusCode::FORBIDDEN, "this host is not allowed"));
        }
        check_port(&host, self.port, &self.names)?;
        match headers.contains_key(ORIGIN) {
            true => Err(ServerAnswer::new(StatusCode::FORBIDDEN, "web pages are not allowed")),
            false => Ok(()),
        }
    }
}
