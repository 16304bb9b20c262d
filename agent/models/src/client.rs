//! The HTTP client of a provider.

use std::time::Duration;

use agent::{ProviderError, Proxy, Timeouts};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use tools::protocol::HostPlace;

use crate::api::Api;

const USER_AGENT: &str = concat!("toolcrib/", env!("CARGO_PKG_VERSION"));

/// The limit from the request to the first byte of the response of a server of the user's own.
const OWN_FIRST_BYTE: Duration = Duration::from_secs(30 * 60);

/// Creates the client. It ignores the proxies of the environment unless they are asked for.
pub(crate) fn client(
    base_url: &str,
    proxy: Option<&Proxy>,
    timeouts: &Timeouts,
) -> reqwest::Result<Client> {
    // reqwest brings no cryptography of its own here. A provider that the program installed earlier stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        // reqwest's client has no timeouts of its own, so a silent host would hold a run for ever.
        .connect_timeout(timeouts.connect)
        // A redirect could send a key to another host: reqwest does not remove keys in custom headers.
        .redirect(Policy::none());
    let builder = match proxy {
        // A proxy would see the traffic of local servers with their keys, unless NO_PROXY says otherwise.
        _ if is_loopback(base_url) => builder.no_proxy(),
        None => builder.no_proxy(),
        Some(Proxy::Environment) => builder,
        Some(Proxy::Url(url)) => builder.no_proxy().proxy(reqwest::Proxy::all(url)?),
        Some(_) => builder.no_proxy(),
    };
    // Reading the certificates of the machine takes longer than a local request.
    let builder = if needs_certificates(base_url, proxy) {
        builder
    } else {
        builder.tls_certs_only([])
    };
    builder.build()
}

/// Returns the usual time limits. A server of the user's own reads a long prompt for many minutes on a slow machine.
pub(crate) fn timeouts(base_url: &str) -> Timeouts {
    let mut timeouts = Timeouts::default();
    if is_plain(base_url) || place(base_url) != HostPlace::Elsewhere {
        timeouts.first_byte = OWN_FIRST_BYTE;
    }
    timeouts
}

/// Returns true if connections to this URL are not encrypted, as those to no public service are.
fn is_plain(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "http")
}

/// Returns true if a connection may be encrypted. Redirects, which could lead to one, are off.
fn needs_certificates(base_url: &str, proxy: Option<&Proxy>) -> bool {
    let is_plain_proxy = match proxy {
        None => true,
        Some(Proxy::Url(url)) => is_plain(url),
        Some(_) => false,
    };
    !is_plain(base_url) || !is_plain_proxy
}

/// Returns an error if the proxy is of a kind or has a URL that cannot be used.
pub(crate) fn check(api: Api, proxy: Option<&Proxy>) -> Result<(), ProviderError> {
    let is_usable = match proxy {
        None | Some(Proxy::Environment) => true,
        Some(Proxy::Url(url)) => agent::provider::is_plain_url(url),
        Some(_) => false,
    };
    let reason = "its proxy is not plain; give http(s)://host:port, without a user, or the proxies of the environment";
    is_usable.then_some(()).ok_or_else(|| api.refuse(reason))
}

fn is_loopback(url: &str) -> bool {
    place(url) == HostPlace::ThisMachine
}

fn place(url: &str) -> HostPlace {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str);
    host.map_or(HostPlace::Elsewhere, HostPlace::from_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine_are_recognised() {
        for url in [
            "http://localhost:1/v1",
            "http://127.8.0.1",
            "http://[::1]:2/",
            "http://[::ffff:127.0.0.1]",
            "http://a.localhost",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://localhost.example.org",
            "http://128.0.0.1",
            "https://api.openai.com",
            "http://[::2]",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn a_server_of_the_users_own_has_more_time_to_begin() {
        for url in [
            "http://localhost:1/v1",
            "http://gpu-box:8000/v1",
            "https://192.168.1.2/v1",
            "https://[::1]:2",
        ] {
            assert_eq!(timeouts(url).first_byte, OWN_FIRST_BYTE, "{url}");
        }
        for url in ["https://api.openai.com/v1", "https://gateway.example.org"] {
            assert_eq!(timeouts(url), Timeouts::default(), "{url}");
        }
    }

    #[test]
    fn certificates_are_read_for_encrypted_connections_alone() {
        let proxy = |url: &str| Some(Proxy::Url(url.to_owned()));
        for (url, proxy) in [
            ("http://localhost:1", None),
            ("HTTP://h/v1", None),
            ("http://h", proxy("http://p:3128")),
        ] {
            assert!(!needs_certificates(url, proxy.as_ref()), "{url} {proxy:?}");
        }
        for (url, proxy) in [
            ("https://h", None),
            ("https://h", proxy("http://p")),
            ("http://h", proxy("https://p")),
            ("http://h", Some(Proxy::Environment)),
            ("h", None),
        ] {
            assert!(needs_certificates(url, proxy.as_ref()), "{url} {proxy:?}");
        }
    }
}
