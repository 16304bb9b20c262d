//! Servers that fail in the middle: each failure has its kind, at once.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tools::{ErrorCode, ToolError};
use tools_http::{HttpClient, HttpError, HttpLimits, HttpOptions, Request};
use tools_testkit::http::TestServer;

use crate::setup::{get, local, names, unlimited};

/// Returns the error of a request to a server that sends these bytes and closes the connection.
async fn after(bytes: &'static [u8]) -> Result<tools_http::Response, HttpError> {
    let server = TestServer::start(move |_| bytes.to_vec()).await;
    get(&server, "/").await
}

#[tokio::test]
async fn a_broken_connection_is_worth_another_try() {
    for bytes in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\ncontent-le",
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
    ] {
        let broken = after(bytes).await.unwrap_err();
        assert!(
            matches!(broken, HttpError::Broken { .. }),
            "{:?} {broken:?}",
            String::from_utf8_lossy(bytes)
        );
        assert_eq!(ToolError::from(broken).code(), ErrorCode::Transient);
    }
}

#[tokio::test]
async fn a_reset_connection_is_worth_another_try() {
    let server = TestServer::start_streaming(|_, mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
            .await
            .unwrap();
        stream.write_all(&[b'x'; 1000]).await.unwrap();
    })
    .await;
    assert!(matches!(
        get(&server, "/").await,
        Err(HttpError::Broken { .. })
    ));
}

#[tokio::test]
async fn a_response_that_is_not_http_is_invalid() {
    for bytes in [
        &b"SSH-2.0-OpenSSH_9.2\r\n\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\na\x00b: c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\n\x1f\x8b\xff\xff\xff",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\ncontent-length: 5\r\n\r\n\xff\xff\xff\xff\xff",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 5\r\n\r\n\xff\xff\xff\xff\xff",
    ] {
        let invalid = after(bytes).await.unwrap_err();
        assert!(matches!(invalid, HttpError::Invalid { .. }), "{:?} {invalid:?}", String::from_utf8_lossy(bytes));
        assert_eq!(ToolError::from(invalid).code(), ErrorCode::ExecutionFailed);
    }
}

#[tokio::test]
async fn bytes_after_the_response_are_not_part_of_it() {
    let answered =
        after(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\nforged")
            .await;
    assert_eq!(&answered.unwrap().body[..], b"hello");
}

#[tokio::test]
async fn nobody_listening_a_name_without_address_and_a_silent_server_are_told_apart() {
    let closed = TestServer::start(|_| Vec::new()).await.address();
    let client = HttpClient::from_options(names([("closed.example", closed)])).unwrap();
    let refused = client
        .send(
            &unlimited(),
            Request::get("http://closed.example/").unwrap(),
        )
        .await
        .unwrap_err();
    assert!(matches!(refused, HttpError::Connect { .. }), "{refused:?}");
    assert_eq!(ToolError::from(refused).code(), ErrorCode::Transient);

    let unknown = client
        .send(
            &unlimited(),
            Request::get("http://unknown.example/").unwrap(),
        )
        .await
        .unwrap_err();
    assert!(
        matches!(&unknown, HttpError::Lookup { url, .. } if url.contains("unknown")),
        "{unknown:?}"
    );
    assert_eq!(ToolError::from(unknown).code(), ErrorCode::ExecutionFailed);

    // RFC 6761 (section 6.4) promises that this name has no address.
    let system = HttpClient::from_options(HttpOptions::default()).unwrap();
    let unknown = system
        .send(
            &unlimited(),
            Request::get("http://toolcrib.invalid/").unwrap(),
        )
        .await
        .unwrap_err();
    assert!(matches!(unknown, HttpError::Lookup { .. }), "{unknown:?}");
}

#[tokio::test]
async fn a_server_that_never_answers_or_answers_slowly_ends_in_time() {
    let mut limits = HttpLimits::default();
    (limits.first_byte, limits.total) = (Duration::from_millis(200), Duration::from_millis(600));
    let silent = TestServer::start_streaming(|_, stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let slow_head = TestServer::start_streaming(|_, mut stream| async move {
        for byte in b"HTTP/1.1 200 OK\r\nx: "
            .iter()
            .chain(std::iter::repeat(&b'x'))
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
    })
    .await;
    let slow_body = TestServer::start_streaming(|_, mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    for (server, expected) in [
        (silent, limits.first_byte),
        (slow_head, limits.first_byte),
        (slow_body, limits.total),
    ] {
        let start = Instant::now();
        let late = local(limits.clone())
            .send(&unlimited(), Request::get(&server.url("/")).unwrap())
            .await
            .unwrap_err();
        assert!(
            matches!(late, HttpError::Time { limit, .. } if limit == expected),
            "{late:?}"
        );
        assert!(
            start.elapsed() >= expected && start.elapsed() < Duration::from_secs(10),
            "{:?}",
            start.elapsed()
        );
    }
}
