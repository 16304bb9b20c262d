//! Contexts and clients of the tests.

use std::net::SocketAddr;
use std::sync::Arc;

use tools::{Grant, Host};
use tools_http::{HttpClient, HttpError, HttpLimits, HttpOptions, Request, Response};
use tools_testkit::http::{TestResolver, TestServer};

/// Returns a context with a grant of these clauses.
pub(crate) fn granted<'a>(clauses: impl IntoIterator<Item = &'a str>) -> Host {
    Host::new().with_grant(Grant::parse(clauses).unwrap())
}

/// Returns a context that may request the hosts of the tests, which it names: an unnamed host is asked about.
pub(crate) fn unlimited() -> Host {
    let hosts = [
        "127.0.0.1",
        "a.example",
        "b.example",
        "sub.a.example",
        "a.example.b",
        "home.example",
        "other.example",
        "closed.example",
        "unknown.example",
        "toolcrib.invalid",
        "10.0.0.1",
        r"\[::1\]",
        "169.254.169.254",
    ];
    let clauses: Vec<_> = hosts
        .iter()
        .flat_map(|host| [format!("net:*:{host}"), format!("net:*:{host}:*")])
        .collect();
    granted(clauses.iter().map(|clause| &**clause))
}

/// Returns a client that may reach `127.0.0.1`.
pub(crate) fn local(limits: HttpLimits) -> HttpClient {
    HttpClient::from_options(HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        limits,
        ..HttpOptions::default()
    })
    .unwrap()
}

/// Returns options in which names lead to servers, and may do so.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = (&'a str, SocketAddr)>) -> HttpOptions {
    let (mut options, mut resolver) = (HttpOptions::default(), TestResolver::new());
    for (name, address) in names {
        options.private_hosts.push(name.to_owned());
        resolver = resolver.with_name(name, address);
    }
    options.resolver = Some(Arc::new(resolver));
    options
}

/// Requests a path of a server with default limits.
pub(crate) async fn get(server: &TestServer, path: &str) -> Result<Response, HttpError> {
    local(HttpLimits::default())
        .send(&unlimited(), Request::get(&server.url(path)).unwrap())
        .await
}
