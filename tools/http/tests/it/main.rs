//! The tests of the HTTP client.

use tools::{Grant, ToolContext};
use tools_http::testing::TestServer;
use tools_http::{HttpClient, HttpOptions, Request};

#[tokio::test]
async fn a_granted_host_is_requested() {
    let server = TestServer::start(|_| TestServer::ok("text/plain; charset=utf-8", "hello")).await;
    let client = HttpClient::from_options(HttpOptions::new().with_private_host("127.0.0.1")).unwrap();
    let cx = ToolContext::new().with_grant(Grant::parse(["net:read:127.0.0.1:*"]).unwrap());
    let response = client.send(&cx, Request::get(&server.url("/a?b")).unwrap()).await.unwrap();
    assert_eq!((&response.body[..], response.media_type().as_deref()), (&b"hello"[..], Some("text/plain")));
    assert_eq!(server.received()[0].path(), "/a?b");
}
