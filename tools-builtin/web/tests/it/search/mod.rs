//! `web.search` and its backends, against a server on loopback. No backend was run against its real service.

mod backend;
mod fault;
mod hostile;
mod key;
mod linked;
mod request;
mod service;

use tools::Grant;
use tools_http::{HttpClient, HttpOptions};
use tools_testkit::TestHost;
use tools_testkit::http::{Received, TestServer};
use tools_web::search::{self, WebSearch};

/// The names of the backends of this crate.
const BACKENDS: [&str; 4] = ["brave", "duckduckgo", "searxng", "tavily"];

/// Returns the answer of a service, as its client package describes it. `backend.rs` names the packages.
fn answer(backend: &str) -> &'static str {
    match backend {
        "brave" => include_str!("answers/brave.json"),
        "duckduckgo" => include_str!("answers/duckduckgo.json"),
        "searxng" => include_str!("answers/searxng.json"),
        _ => include_str!("answers/tavily.json"),
    }
}

/// Starts a service that answers each request with this JSON.
async fn service(json: impl Into<String>) -> TestServer {
    let json = json.into();
    TestServer::start(move |_| TestServer::ok("application/json", &json)).await
}

/// Starts a service that answers each request with this status, these headers and this body.
async fn refusing(status: &'static str, headers: &'static str, body: &'static str) -> TestServer {
    TestServer::start(move |_| response(status, headers, body)).await
}

fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns a backend at a server.
fn at(backend: &str, server: &TestServer) -> WebSearch {
    WebSearch::new(search::get(backend).unwrap(), Some(&server.url("/base/"))).unwrap()
}

fn options() -> HttpOptions {
    HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        ..HttpOptions::default()
    }
}

/// Returns a host that searches by this backend and grants what it needs.
fn host(web_search: WebSearch) -> TestHost {
    TestHost::new(tools_web::register)
        .with_context(|cx| cx.with_grant(grant(&web_search)))
        .with_service(HttpClient::from_options(options()).unwrap())
        .with_service(web_search)
}

fn grant(web_search: &WebSearch) -> Grant {
    Grant::parse(web_search.targets().iter().map(ToString::to_string)).unwrap()
}

/// Returns the value of a parameter in the query of a request.
fn parameter(request: &Received, name: &str) -> Option<String> {
    let url = tools_http::Url::parse(&format!("http://localhost{}", request.path())).unwrap();
    url.query_pairs()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}
