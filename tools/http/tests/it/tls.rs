//! Encryption: real names and certificates, in both versions of HTTP that reqwest offers.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tools::{ErrorCode, ToolError};
use tools_http::testing::{TestAuthority, TestServer};
use tools_http::{HttpClient, HttpError, HttpOptions, Request};

use crate::setup::{names, unlimited};

async fn fetch(options: HttpOptions, url: &str) -> Result<tools_http::Response, HttpError> {
    HttpClient::from_options(options).unwrap().send(&unlimited(), Request::get(url).unwrap()).await
}

#[tokio::test]
async fn a_server_is_trusted_by_its_certificate() {
    let authority = TestAuthority::new();
    let server = TestServer::start_tls(&authority, &["a.example"], |_| TestServer::ok("text/plain", "a")).await;
    let options = || names([("a.example", server.address()), ("b.example", server.address())]);
    let trusting = || options().with_root_certificate(authority.pem());
    assert_eq!(&fetch(trusting(), "https://a.example/").await.unwrap().body[..], b"a");
    for (options, url) in [
        (options(), "https://a.example/"),
        (options().with_root_certificate(TestAuthority::new().pem()), "https://a.example/"),
        (trusting(), "https://b.example/"),
    ] {
        let refused = fetch(options, url).await.unwrap_err();
        assert!(matches!(refused, HttpError::Tls { .. }), "{url} {refused:?}");
        assert_eq!(ToolError::from(refused).code(), ErrorCode::ExecutionFailed);
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_server_without_encryption_is_told_apart() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // A server for plain HTTP answers what it does not understand.
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        // Keeps the connection open until the client gives up.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    let (answered, ()) = tokio::join!(fetch(names([("a.example", address)]), "https://a.example/"), answer);
    let refused = answered.unwrap_err();
    assert!(matches!(refused, HttpError::Tls { .. }), "{refused:?}");
}
