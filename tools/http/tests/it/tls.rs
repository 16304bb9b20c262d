//! Encryption: real names and certificates, in HTTP/1.1 and HTTP/2.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tools::{ErrorCode, ToolError};
use tools_http::{HttpClient, HttpError, HttpLimits, HttpOptions, Request};
use tools_testkit::http::{TestAuthority, TestServer};

use crate::setup::{names, unlimited};

async fn fetch(options: HttpOptions, url: &str) -> Result<tools_http::Response, HttpError> {
    HttpClient::from_options(options)
        .unwrap()
        .send(&unlimited(), Request::get(url).unwrap())
        .await
}

#[tokio::test]
async fn a_server_is_trusted_by_its_certificate() {
    let authority = TestAuthority::new();
    let server = TestServer::start_tls(&authority, &["a.example"], |_| {
        TestServer::ok("text/plain", "a")
    })
    .await;
    let options = || {
        names([
            ("a.example", server.address()),
            ("b.example", server.address()),
        ])
    };
    let trusting = || HttpOptions {
        root_certificates: vec![authority.pem().into()],
        ..options()
    };
    assert_eq!(
        &fetch(trusting(), "https://a.example/").await.unwrap().body[..],
        b"a"
    );
    for (options, url) in [
        (options(), "https://a.example/"),
        (
            HttpOptions {
                root_certificates: vec![TestAuthority::new().pem().into()],
                ..options()
            },
            "https://a.example/",
        ),
        (trusting(), "https://b.example/"),
    ] {
        let refused = fetch(options, url).await.unwrap_err();
        assert!(
            matches!(refused, HttpError::Tls { .. }),
            "{url} {refused:?}"
        );
        assert_eq!(ToolError::from(refused).code(), ErrorCode::ExecutionFailed);
    }
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_server_without_encryption_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // A server for plain HTTP answers what it does not understand.
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        // Keeps the connection open until the client gives up.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    let (answered, ()) = tokio::join!(
        fetch(names([("a.example", address)]), "https://a.example/"),
        answer
    );
    let refused = answered.unwrap_err();
    assert!(matches!(refused, HttpError::Tls { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_server_of_http_2_is_held_to_the_same_limits() {
    let authority = TestAuthority::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(authority.server_config(&["a.example"], &["h2", "http/1.1"]));
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((request, mut answer))) = connection.accept().await {
            let path = request.uri().path();
            let header = if path == "/header" {
                "x".repeat(5000)
            } else {
                format!("of {path}")
            };
            let response = http::Response::builder()
                .header("x-shown", header)
                .body(())
                .unwrap();
            let mut body = answer.send_response(response, false).unwrap();
            let bytes = if path == "/body" {
                "x".repeat(5000)
            } else {
                "hello".to_owned()
            };
            body.send_data(bytes.into(), true).unwrap();
        }
    });
    let mut limits = HttpLimits::default();
    (limits.max_body_bytes, limits.max_header_bytes) = (4000, 4000);
    let options = HttpOptions {
        root_certificates: vec![authority.pem().into()],
        limits,
        ..names([("a.example", address)])
    };
    let client = HttpClient::from_options(options).unwrap();
    let cx = unlimited();
    let send = |path: &str| {
        client.send(
            &cx,
            Request::get(&format!("https://a.example{path}")).unwrap(),
        )
    };
    // The server accepts one connection, so all requests share it.
    for path in ["/a", "/b"] {
        let answered = send(path).await.unwrap();
        assert_eq!(answered.headers["x-shown"], format!("of {path}"));
        assert_eq!(&answered.body[..], b"hello");
    }
    let body = send("/body").await.unwrap_err();
    assert!(
        matches!(body, HttpError::TooLarge { limit: 4000, .. }),
        "{body:?}"
    );
    let header = send("/header").await.unwrap_err();
    assert!(
        matches!(header, HttpError::Headers { limit: 4000, .. }),
        "{header:?}"
    );
    server.abort();
}
