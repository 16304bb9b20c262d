//! [`PrivateHost`]: a host whose addresses may be private.

use std::net::IpAddr;

use ipnet::IpNet;
use tools::protocol::{HostPlace, InvalidTarget, Normaliser};
use url::{Host, Url};

/// Returns the entry of [`HttpOptions::private_hosts`](crate::HttpOptions::private_hosts) for the host and the port of a URL, if the
/// spelling says that the host is this machine or in a private network. Another name may be public: it is looked up, and must not lead
/// to a private address.
pub fn private_host(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let port = url.port_or_known_default()?;
    let entry = format!("{host}:{port}");
    let is_near = HostPlace::from_host(host) != HostPlace::Elsewhere;
    (is_near && PrivateHost::parse(&entry).is_ok()).then_some(entry)
}

/// Returns the host of a URL if it is an address.
pub(crate) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(IpAddr::V4(address)),
        Host::Ipv6(address) => Some(IpAddr::V6(address)),
        Host::Domain(_) => None,
    }
}

/// An entry of [`HttpOptions::private_hosts`](crate::HttpOptions::private_hosts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrivateHost {
    host: Named,
    /// `None` for every port.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    /// A name, whatever it resolves to.
    Name(String),
    /// Addresses, as hosts of URLs.
    Addresses(IpNet),
}

impl PrivateHost {
    /// Parses `name`, `name:port`, an IPv4 or IPv6 address with or without a port, or a block such as `10.0.0.0/8`.
    ///
    /// # Errors
    /// Returns the fault and its repair.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let address = text.parse().map(|address: IpAddr| address.into());
        if let Ok(block) = text.parse().or(address) {
            return Ok(Self {
                host: Named::Addresses(block),
                port: None,
            });
        }
        let example =
            "write a host such as nas.home, nas.home:8080, 192.168.0.5, [fd00::5]:80 or 10.0.0.0/8";
        let refused = |reason: &str| format!("{text:?} {reason}; {example}");
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (text, None),
        };
        // `parse` alone would accept a `+`.
        if port.is_some_and(|port| !port.bytes().all(|digit| digit.is_ascii_digit())) {
            return Err(refused("has a port that is not a number"));
        }
        let port = port.map(str::parse).transpose();
        let port = port.map_err(|_| refused("has no port from 0 to 65535"))?;
        let normal =
            Normaliser::Host
                .apply(&format!("http://{host}/"))
                .map_err(|error| match error {
                    InvalidTarget::Host { reason, .. } => {
                        refused(&format!("is not a host: {reason}"))
                    }
                    _ => refused("is not a host"),
                })?;
        if !normal.eq_ignore_ascii_case(host) {
            return Err(refused("is not a plain host"));
        }
        let host = match normal.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => Named::Addresses(address.into()),
            Err(_) => Named::Name(normal),
        };
        Ok(Self { host, port })
    }

    /// Returns true if the entry names the host and the port of the URL.
    pub(crate) fn names(&self, url: &Url) -> bool {
        let is_host = match (&self.host, literal(url)) {
            (Named::Name(name), None) => url.host_str() == Some(name),
            (Named::Addresses(block), Some(address)) => block.contains(&address),
            _ => false,
        };
        is_host
            && self
                .port
                .is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_private_only_if_its_spelling_says_so() {
        let private = |url: &str| private_host(&url.parse().unwrap());
        for (url, expected) in [
            ("http://localhost:8888", "localhost:8888"),
            ("http://search.localhost", "search.localhost:80"),
            ("http://127.0.0.1:1/base", "127.0.0.1:1"),
            ("https://10.1.2.3", "10.1.2.3:443"),
            ("http://[::1]:8888", "[::1]:8888"),
            ("http://[fd00::5]:1", "[fd00::5]:1"),
        ] {
            assert_eq!(private(url).as_deref(), Some(expected), "{url}");
        }
        for url in [
            "https://searx.example",
            "http://nas",
            "http://169.254.169.254",
            "http://8.8.8.8",
            "http://localhost.evil.example",
            // These are private, but no entry can name them.
            "http://localhost.",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert_eq!(private(url), None, "{url}");
        }
    }

    #[test]
    fn an_entry_names_its_host_and_port_only() {
        for (entry, named, other) in [
            ("nas.home", "http://nas.home:8080/", "http://a.nas.home/"),
            ("NAS.home", "https://nas.home/", "http://home/"),
            ("nas.home:8080", "http://nas.home:8080/", "http://nas.home/"),
            ("nas.home:443", "https://nas.home/", "http://nas.home/"),
            (
                "192.168.0.5",
                "http://192.168.0.5:81/",
                "http://192.168.0.6/",
            ),
            (
                "192.168.0.5:80",
                "http://192.168.0.5/",
                "https://192.168.0.5/",
            ),
            ("10.0.0.0/8", "http://10.1.2.3/", "http://11.0.0.0/"),
            ("10.1.2.3/8", "http://10.9.9.9/", "http://127.0.0.1/"),
            ("::1", "http://[::1]:8080/", "http://[::2]/"),
            ("[::1]", "http://[::1]/", "http://127.0.0.1/"),
            ("[fd00::5]:81", "http://[fd00::5]:81/", "http://[fd00::5]/"),
            ("fd00::/8", "http://[fd12::1]/", "http://[fe80::1]/"),
        ] {
            let entry = PrivateHost::parse(entry).unwrap();
            assert!(entry.names(&named.parse().unwrap()), "{entry:?} {named}");
            assert!(!entry.names(&other.parse().unwrap()), "{entry:?} {other}");
        }
    }

    #[test]
    fn an_entry_that_is_no_plain_host_is_refused() {
        for entry in [
            "",
            "*",
            "*.home",
            "http://nas.home",
            "nas.home/",
            "nas.home:",
            "nas.home:x",
            "nas.home:+80",
            "nas.home:70000",
            "u@nas.home",
            "nas home",
            "127.1",
            "0x7f000001",
            "10.0.0.0/33",
            "[::1",
            "[::1]:",
            "[::ffff:127.0.0.1]",
            "nas.home?",
            "nas.home#",
            "ñ.home",
            "nas.home.",
        ] {
            assert!(PrivateHost::parse(entry).is_err(), "{entry}");
        }
    }
}
