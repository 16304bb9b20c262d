//! [`TestService`]: a loopback server in place of Open-Meteo.

use std::sync::Arc;

use serde_json::Value;
use tools::ToolErrorKind;
use tools_http::{HttpClient, HttpOptions, Url};
use tools_testkit::TestHost;
use tools_testkit::http::{Received, TestAuthority, TestResolver, TestServer};

const HOSTS: [&str; 2] = ["api.open-meteo.com", "geocoding-api.open-meteo.com"];

/// The grant that the tool needs.
const GRANT: [&str; 2] = [
    "net:read:api.open-meteo.com",
    "net:read:geocoding-api.open-meteo.com",
];

pub(crate) const PLACES: &str = include_str!("../recorded/geocoding_zurich.json");
pub(crate) const NO_PLACES: &str = include_str!("../recorded/geocoding_empty.json");
pub(crate) const FORECAST: &str = include_str!("../recorded/forecast_zurich.json");

/// A loopback server in place of Open-Meteo, and a host whose client reaches it under the names of the service.
pub(crate) struct TestService {
    server: TestServer,
    pub(crate) host: TestHost,
}

impl TestService {
    /// Starts a service that answers searches and forecasts with this JSON.
    pub(crate) async fn start(places: impl ToString, forecast: impl ToString) -> Self {
        let (places, forecast) = (places.to_string(), forecast.to_string());
        Self::answering(move |request| {
            TestServer::ok(
                "application/json; charset=utf-8",
                if is_search(request) {
                    places.as_bytes()
                } else {
                    forecast.as_bytes()
                },
            )
        })
        .await
    }

    /// Starts a service that answers with raw bytes.
    pub(crate) async fn answering(
        answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let authority = TestAuthority::new();
        let server = TestServer::start_tls(&authority, &HOSTS, answer).await;
        let mut resolver = TestResolver::new();
        let mut options = HttpOptions {
            root_certificates: vec![authority.pem().into()],
            ..HttpOptions::default()
        };
        for host in HOSTS {
            resolver = resolver.with_name(host, server.address());
            options.private_hosts.push(host.to_owned());
        }
        options.resolver = Some(Arc::new(resolver));
        let client = HttpClient::from_options(options).unwrap();
        let host = TestHost::new(tools_weather::register)
            .with_grant(&GRANT)
            .with_service(client);
        Self { server, host }
    }

    /// Calls `weather.get` and returns its value.
    pub(crate) async fn weather(&self, arguments: Value) -> Value {
        self.host.value("weather.get", arguments).await
    }

    /// Calls `weather.get`, which must fail, and returns the kind of the error.
    pub(crate) async fn failure(&self, arguments: Value) -> ToolErrorKind {
        self.host
            .call("weather.get", arguments)
            .await
            .map_err(|error| error.kind().clone())
            .unwrap_err()
    }

    /// Returns the requests so far, each as the host and the URL.
    pub(crate) fn requests(&self) -> Vec<Url> {
        let url = |request: &Received| {
            let host = request.header("host").unwrap_or_default();
            Url::parse(&format!("https://{host}{}", request.path())).unwrap()
        };
        self.server.received().iter().map(url).collect()
    }
}

/// Returns true for a request to look up a place.
pub(crate) fn is_search(request: &Received) -> bool {
    request.path().starts_with("/v1/search?")
}

/// Returns the value of a parameter of a URL.
pub(crate) fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

/// Returns a recorded answer for a change.
pub(crate) fn recorded(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
