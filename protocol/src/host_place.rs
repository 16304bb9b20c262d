//! [`HostPlace`]: where a host is, by its spelling.

use std::net::IpAddr;

/// The place of a host of a URL, as far as its spelling says so.
///
/// A name other than `localhost` may lead anywhere: look its addresses up before you rely on it.
///
/// ```
/// use protocol::HostPlace;
///
/// assert_eq!(HostPlace::from_host("[::ffff:127.0.0.1]"), HostPlace::ThisMachine);
/// assert_eq!(HostPlace::from_host("192.168.0.5"), HostPlace::PrivateNetwork);
/// assert_eq!(HostPlace::from_host("nas.home"), HostPlace::Elsewhere);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostPlace {
    /// A loopback address, `localhost` or a name below it.
    ThisMachine,
    /// An address of a private network.
    PrivateNetwork,
    /// A public or link-local address, or a name.
    Elsewhere,
}

impl HostPlace {
    /// Returns the place of a host, such as `localhost`, `10.0.0.1` or `[::1]`.
    pub fn from_host(host: &str) -> Self {
        let host = host.trim_matches(['[', ']']);
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        match host.parse().map(|address: IpAddr| address.to_canonical()) {
            Ok(address) if address.is_loopback() => Self::ThisMachine,
            Ok(IpAddr::V4(address)) if address.is_private() => Self::PrivateNetwork,
            Ok(IpAddr::V6(address)) if address.is_unique_local() => Self::PrivateNetwork,
            Err(_) if host == "localhost" || host.ends_with(".localhost") => Self::ThisMachine,
            _ => Self::Elsewhere,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HostPlace::{self, Elsewhere, PrivateNetwork, ThisMachine};

    #[test]
    fn a_host_is_near_only_if_its_spelling_says_so() {
        for (place, hosts) in [
            (
                ThisMachine,
                &[
                    "localhost",
                    "LOCALHOST.",
                    "a.localhost",
                    "127.8.0.1",
                    "[::1]",
                    "[::ffff:127.0.0.1]",
                ][..],
            ),
            (
                PrivateNetwork,
                &[
                    "10.1.2.3",
                    "172.16.0.1",
                    "192.168.0.1",
                    "[fd00::5]",
                    "[::ffff:10.0.0.1]",
                ],
            ),
            (
                Elsewhere,
                &[
                    "localhost.example",
                    "nas",
                    "169.254.169.254",
                    "[fe80::1]",
                    "8.8.8.8",
                    "128.0.0.1",
                    "[::2]",
                    "172.32.0.1",
                    "0.0.0.0",
                    "",
                ],
            ),
        ] {
            for host in hosts {
                assert_eq!(HostPlace::from_host(host), place, "{host}");
            }
        }
    }
}
