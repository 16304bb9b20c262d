//! [`AllowedHosts`]: the names of a server.

use std::net::{IpAddr, SocketAddr};

use http::header::ORIGIN;
use http::{HeaderMap, Uri};

use super::{ServerAnswer, check_names, check_port};

/// The names of this machine.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Returns the names of a server at an address: those of this machine, that of the address, and further ones.
pub fn host_names(address: SocketAddr, further: &[String]) -> Vec<String> {
    let own = match address.ip() {
        ip if ip.is_unspecified() => None,
        IpAddr::V4(ip) => Some(ip.to_string()),
        IpAddr::V6(ip) => Some(format!("[{ip}]")),
    };
    let names = LOOPBACK.into_iter().map(str::to_owned).chain(own);
    names.chain(further.iter().cloned()).collect()
}

/// The names that requests may have as `Host`. Another name is that of a page that a browser was led here from.
#[derive(Debug)]
pub(super) struct AllowedHosts {
    names: Vec<String>,
    port: u16,
}

impl AllowedHosts {
    /// Creates the names of a server at an address, and further ones.
    pub(super) fn new(address: SocketAddr, further: &[String]) -> Self {
        Self {
            names: host_names(address, further),
            port: address.port(),
        }
    }

    /// Checks that a request names this server once, and comes from no web page.
    ///
    /// # Errors
    /// Returns the answer of a refusal.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), ServerAnswer> {
        let host = check_names(target, headers)?;
        if !self.names.iter().any(|allowed| {
            [host.as_str(), host.host()]
                .iter()
                .any(|host| host.eq_ignore_ascii_case(allowed))
        }) {
            return Err(ServerAnswer::forbidden("this host is not allowed"));
        }
        check_port(&host, self.port, &self.names)?;
        if headers.contains_key(ORIGIN) {
            return Err(ServerAnswer::forbidden("web pages are not allowed"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::HOST;

    use super::*;

    #[test]
    fn only_requests_that_name_this_server_and_come_from_no_page_are_allowed() {
        let further = ["app.example".to_owned(), "proxy.example:8443".to_owned()];
        let any = AllowedHosts::new("0.0.0.0:80".parse().unwrap(), &further);
        let one = AllowedHosts::new("192.0.2.1:80".parse().unwrap(), &[]);
        let check = |hosts: &AllowedHosts, host: &str, origin: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_str(host).unwrap());
            headers.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_str(origin).unwrap())));
            hosts.check(&Uri::from_static("/"), &headers).is_ok()
        };
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "[::1]:80",
            "app.example",
            "proxy.example:8443",
        ] {
            assert!(check(&any, host, None), "{host}");
        }
        for host in [
            "0.0.0.0",
            "evil.example",
            "192.0.2.1",
            "localhost:81",
            "app.example:8443",
            "proxy.example",
        ] {
            assert!(!check(&any, host, None), "{host}");
        }
        assert!(check(&one, "192.0.2.1", None) && !check(&one, "app.example", None));
        for origin in ["http://localhost", "null", "http://evil.example"] {
            assert!(!check(&any, "localhost", Some(origin)), "{origin}");
        }
    }
}
