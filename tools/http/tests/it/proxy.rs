//! A proxy: the options name it, and literal addresses are refused behind it too.

use tools_http::{HttpClient, HttpError, HttpOptions, Request};
use tools_testkit::http::{TestResolver, TestServer};

use crate::setup::unlimited;

async fn fetch(options: &HttpOptions, url: &str) -> Result<tools_http::Response, HttpError> {
    HttpClient::from_options(options.clone())
        .unwrap()
        .send(&unlimited(), Request::get(url).unwrap())
        .await
}

#[tokio::test]
async fn requests_go_through_the_proxy_except_those_to_private_hosts() {
    let proxy = TestServer::start(|_| TestServer::ok("text/plain", "by proxy")).await;
    let direct = TestServer::start(|_| TestServer::ok("text/plain", "direct")).await;
    let resolver =
        std::sync::Arc::new(TestResolver::new().with_name("proxy.example", proxy.address()));
    let options = HttpOptions {
        resolver: Some(resolver.clone()),
        private_hosts: vec!["127.0.0.1".into()],
        proxy: Some(format!(
            "http://user:pass@proxy.example:{}",
            proxy.address().port()
        )),
        ..HttpOptions::default()
    };
    assert_eq!(
        &fetch(&options, "http://a.example/x").await.unwrap().body[..],
        b"by proxy"
    );
    let received = &proxy.received()[0];
    assert!(
        received.head.starts_with("GET http://a.example/x HTTP/1.1"),
        "{}",
        received.head
    );
    assert_eq!(
        received.header("proxy-authorization"),
        Some("Basic dXNlcjpwYXNz")
    );
    assert_eq!(
        &fetch(&options, &direct.url("/")).await.unwrap().body[..],
        b"direct"
    );
    assert_eq!(
        resolver.lookups(),
        ["proxy.example"],
        "the proxy looks up the others"
    );

    for url in [
        "http://10.0.0.1/",
        "http://[::1]/",
        "https://169.254.169.254/",
    ] {
        assert!(
            matches!(fetch(&options, url).await, Err(HttpError::Address { .. })),
            "{url}"
        );
    }
    assert_eq!(proxy.connections(), 1);
}
