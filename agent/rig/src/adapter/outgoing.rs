//! The HTTP client of a provider, and the headers of its requests.

use agent::{ProviderError, Proxy};
use rig_core::http_client::Request;
use rig_reqwest::reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use rig_reqwest::reqwest::redirect::Policy;
use rig_reqwest::reqwest::{self, Client, Url};
use secrecy::{ExposeSecret, SecretString};
use tools::protocol::HostPlace;

use super::Api;
use crate::Timeouts;

const USER_AGENT: &str = concat!("toolcrib/", env!("CARGO_PKG_VERSION"));

/// The header of Gemini's key. rig would put the key into the URL, which errors and logs of proxies show.
const GEMINI_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The headers that hold keys.
const KEYS: [HeaderName; 3] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
];

/// Corrects the requests that rig makes.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    /// The key of Gemini, marked as sensitive.
    gemini_key: Option<HeaderValue>,
}

impl Outgoing {
    pub(super) fn new(api: Api, key: &SecretString) -> Self {
        let text = Some(key.expose_secret()).filter(|key| api == Api::Gemini && !key.is_empty());
        let header = text
            .and_then(|key| HeaderValue::from_str(key).ok())
            .map(|mut header| {
                header.set_sensitive(true);
                header
            });
        Self { gemini_key: header }
    }

    /// Moves Gemini's key to its header, and removes headers whose key is empty.
    pub(super) fn corrected<T>(&self, mut request: Request<T>) -> Request<T> {
        for name in KEYS {
            let is_empty =
                |value: &HeaderValue| matches!(value.as_bytes(), b"" | b"Bearer" | b"Bearer ");
            if request.headers().get(&name).is_some_and(is_empty) {
                request.headers_mut().remove(&name);
            }
        }
        let uri = request.uri().to_string();
        if let Some(without) = without_empty_key(&uri).and_then(|uri| uri.parse().ok()) {
            *request.uri_mut() = without;
        }
        if let Some(key) = &self.gemini_key {
            request.headers_mut().insert(GEMINI_KEY, key.clone());
        }
        request
    }
}

/// Removes the parameter `key` without a value, which rig adds at the end. Returns `None` if there is none.
fn without_empty_key(uri: &str) -> Option<&str> {
    uri.strip_suffix("key=")?.strip_suffix(['?', '&'])
}

/// Creates the client. It ignores the proxies of the environment unless they are asked for.
pub(super) fn client(
    base_url: &str,
    proxy: Option<&Proxy>,
    timeouts: &Timeouts,
) -> reqwest::Result<Client> {
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(timeouts.connect)
        // Limits the wait between the bytes of a response that is not streamed, which rig reads by itself.
        .read_timeout(timeouts.first_byte.max(timeouts.idle))
        // A redirect could send a key to another host: reqwest does not remove keys in custom headers.
        .redirect(Policy::none());
    let builder = match proxy {
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

/// Returns true if a connection may be encrypted. Redirects, which could lead to one, are off.
fn needs_certificates(base_url: &str, proxy: Option<&Proxy>) -> bool {
    let is_plain = |url: &str| Url::parse(url).is_ok_and(|url| url.scheme() == "http");
    let is_plain_proxy = match proxy {
        None => true,
        Some(Proxy::Url(url)) => is_plain(url),
        Some(_) => false,
    };
    !is_plain(base_url) || !is_plain_proxy
}

/// Returns an error if the proxy is of a kind or has a URL that cannot be used.
pub(super) fn check(api: Api, proxy: Option<&Proxy>) -> Result<(), ProviderError> {
    let is_usable = match proxy {
        None | Some(Proxy::Environment) => true,
        Some(Proxy::Url(url)) => agent::provider::is_plain_url(url),
        Some(_) => false,
    };
    let reason = "its proxy is not plain; give http(s)://host:port, without a user, or the proxies of the environment";
    is_usable
        .then_some(())
        .ok_or_else(|| ProviderError::Options {
            provider: api.name().to_owned(),
            reason: reason.to_owned(),
        })
}

fn is_loopback(url: &str) -> bool {
    let host = Url::parse(url)
        .ok()
        .and_then(|url| Some(url.host_str()?.to_owned()));
    host.is_some_and(|host| HostPlace::from_host(&host) == HostPlace::ThisMachine)
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

    #[test]
    fn the_key_of_gemini_moves_to_a_header_that_is_not_shown() {
        let outgoing = Outgoing::new(Api::Gemini, &SecretString::from("very-secret"));
        for (uri, moved) in [
            ("http://h/m:generate?key=", "http://h/m:generate"),
            ("http://h/m?alt=sse&key=", "http://h/m?alt=sse"),
        ] {
            let request = outgoing.corrected(Request::post(uri).body(()).unwrap());
            assert_eq!(
                (
                    request.uri().to_string().as_str(),
                    &request.headers()[GEMINI_KEY]
                ),
                (moved, &HeaderValue::from_static("very-secret"))
            );
            assert!(!format!("{request:?} {outgoing:?}").contains("secret"));
        }
    }

    #[test]
    fn an_empty_key_is_not_sent() {
        let request = Request::post("http://h")
            .header("authorization", "Bearer ")
            .header("x-api-key", "")
            .header("x-other", "");
        let request = Outgoing::new(Api::OpenAi, &SecretString::default())
            .corrected(request.body(()).unwrap());
        assert_eq!(
            request
                .headers()
                .keys()
                .map(HeaderName::as_str)
                .collect::<Vec<_>>(),
            ["x-other"]
        );
    }
}
