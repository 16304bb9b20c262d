//! Responses whose body is read as it arrives.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc};
use tools::CancellationToken;
use tools_http::{
    BoundSecret, HttpClient, HttpError, HttpLimits, HttpOptions, Method, Request, ResponseStream,
};
use tools_testkit::http::TestServer;

use crate::setup::{granted, local, names, unlimited};

/// Starts a server that sends one part of a body for each permit, and reports when its client is gone.
async fn parts(
    parts: &'static [&'static str],
) -> (TestServer, Arc<Semaphore>, mpsc::UnboundedReceiver<()>) {
    let (next, (report, gone)) = (Arc::new(Semaphore::new(0)), mpsc::unbounded_channel());
    let permits = next.clone();
    let server = TestServer::start_streaming(move |_, mut stream| {
        let (permits, report) = (permits.clone(), report.clone());
        async move {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                .await
                .unwrap();
            for part in parts {
                permits.acquire().await.unwrap().forget();
                stream.write_all(part.as_bytes()).await.unwrap();
            }
            let _ = stream.read(&mut [0]).await;
            report.send(()).unwrap();
        }
    })
    .await;
    (server, next, gone)
}

fn get(url: &str) -> Request {
    Request::get(url).unwrap()
}

async fn open(client: &HttpClient, server: &TestServer) -> ResponseStream {
    client
        .stream(&unlimited(), get(&server.url("/")))
        .await
        .unwrap()
}

/// Returns limits without a total, and with this time between two parts.
fn idle(idle: Duration) -> HttpLimits {
    let mut limits = HttpLimits::default();
    (limits.idle, limits.total) = (idle, Duration::MAX);
    limits
}

#[tokio::test]
async fn a_body_is_read_as_it_arrives_and_a_drop_closes_the_connection() {
    let (server, next, mut gone) = parts(&["one", "two"]).await;
    let mut stream = open(&local(HttpLimits::default()), &server).await;
    assert_eq!(
        (stream.status.as_u16(), stream.media_type().as_deref()),
        (200, Some("text/event-stream"))
    );
    for part in ["one", "two"] {
        next.add_permits(1);
        assert_eq!(stream.chunk().await.unwrap().unwrap(), part);
    }
    assert!(gone.try_recv().is_err());
    drop(stream);
    gone.recv().await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_body_is_not_a_break() {
    let server = TestServer::start(|request| match request.path() {
        "/whole" => TestServer::ok("text/plain", "whole"),
        _ => b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal".to_vec(),
    })
    .await;
    let client = local(HttpLimits::default());
    let mut whole = client
        .stream(&unlimited(), get(&server.url("/whole")))
        .await
        .unwrap();
    assert_eq!(whole.chunk().await.unwrap().unwrap(), "whole");
    assert_eq!(
        (whole.chunk().await.unwrap(), whole.chunk().await.unwrap()),
        (None, None)
    );
    let mut half = client
        .stream(&unlimited(), get(&server.url("/half")))
        .await
        .unwrap();
    let broken = loop {
        match half.chunk().await {
            Ok(bytes) => assert!(bytes.is_some()),
            Err(error) => break error,
        }
    };
    assert!(matches!(broken, HttpError::Broken { .. }), "{broken:?}");
}

#[tokio::test]
async fn cancelling_the_call_or_its_deadline_ends_the_body() {
    let (server, next, _gone) = parts(&["one"; 2]).await;
    next.add_permits(2);
    let token = CancellationToken::new();
    let client = local(idle(Duration::MAX));
    let cx = unlimited().with_cancellation(token.clone());
    let mut stream = client.stream(&cx, get(&server.url("/"))).await.unwrap();
    assert!(stream.chunk().await.unwrap().is_some());
    token.cancel();
    assert!(matches!(
        stream.chunk().await,
        Err(HttpError::Cancelled { .. })
    ));
    let cx = unlimited().with_deadline(Instant::now() + Duration::from_secs(2));
    let mut stream = client.stream(&cx, get(&server.url("/"))).await.unwrap();
    assert!(
        matches!(stream.chunk().await, Err(HttpError::Time { limit, .. }) if limit <= Duration::from_secs(2))
    );
}

#[tokio::test]
async fn a_body_that_pauses_for_too_long_or_takes_too_long_ends() {
    let (server, next, _gone) = parts(&["one"; 9]).await;
    let short = Duration::from_millis(300);
    let client = local(idle(short));
    let mut stream = open(&client, &server).await;
    for _ in 0..2 {
        next.add_permits(1);
        assert!(stream.chunk().await.unwrap().is_some());
    }
    assert!(matches!(stream.chunk().await, Err(HttpError::Time { limit, .. }) if limit == short));
    let sent = client.send(&unlimited(), get(&server.url("/"))).await;
    assert!(matches!(sent, Err(HttpError::Time { limit, .. }) if limit == short));
    let mut limits = HttpLimits::default();
    limits.total = short;
    let mut stream = open(&local(limits), &server).await;
    assert!(matches!(stream.chunk().await, Err(HttpError::Time { limit, .. }) if limit == short));
}

#[tokio::test]
async fn a_stream_takes_no_place_from_other_requests() {
    let (server, next, _gone) = parts(&["one"]).await;
    let plain = TestServer::start(|_| TestServer::ok("text/plain", "answer")).await;
    let mut limits = HttpLimits::default();
    (limits.max_connections, limits.max_connections_per_host) = (1, 1);
    let client = local(limits);
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(open(&client, &server).await);
    }
    assert_eq!(
        client
            .send(&unlimited(), get(&plain.url("/")))
            .await
            .unwrap()
            .body,
        "answer"
    );
    next.add_permits(3);
    for mut stream in streams {
        assert_eq!(stream.chunk().await.unwrap().unwrap(), "one");
    }
}

#[tokio::test]
async fn bytes_are_counted_after_decompression_and_no_limit_of_the_client_applies() {
    const LENGTH: usize = 16 * 1024 * 1024;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, &vec![0; LENGTH]).unwrap();
    let body = encoder.finish().unwrap();
    let server = TestServer::start(move |_| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), &body].concat()
    })
    .await;
    let mut limits = HttpLimits::default();
    limits.max_body_bytes = 1000;
    let mut stream = open(&local(limits), &server).await;
    let (mut length, mut most) = (0, 0);
    while let Some(bytes) = stream.chunk().await.unwrap() {
        (length, most) = (length + bytes.len(), most.max(bytes.len()));
    }
    assert_eq!(length, LENGTH);
    assert!(most < 1024 * 1024, "{most}");
}

#[tokio::test]
async fn redirects_and_addresses_are_checked_as_for_whole_responses() {
    let elsewhere = TestServer::start(|_| TestServer::ok("text/plain", "elsewhere")).await;
    let url = elsewhere.url("/");
    let server = TestServer::start(move |request| match request.path() {
        "/here" => TestServer::head("307 Temporary Redirect", &[("location", "/end")]),
        "/away" => TestServer::head("307 Temporary Redirect", &[("location", &url)]),
        _ => TestServer::ok("text/plain", "end"),
    })
    .await;
    let cx = granted([&*format!("net:*:{}", server.address())]);
    let client = local(HttpLimits::default());
    let post = |path: &str| {
        Request::new(Method::POST, &server.url(path))
            .unwrap()
            .with_body("{}")
    };
    let mut followed = client.stream(&cx, post("/here")).await.unwrap();
    assert_eq!((followed.url.path(), followed.redirects.len()), ("/end", 1));
    assert_eq!(followed.chunk().await.unwrap().unwrap(), "end");
    assert_eq!(server.received().last().unwrap().body, b"{}");
    let refused = client
        .stream(&cx, get(&server.url("/away")))
        .await
        .unwrap_err();
    assert!(matches!(refused, HttpError::Refused { .. }), "{refused:?}");
    let refused = client
        .stream(&unlimited(), post("/away"))
        .await
        .unwrap_err();
    assert!(matches!(refused, HttpError::Url { .. }), "{refused:?}");
    let refused = HttpClient::default()
        .stream(&unlimited(), get(&elsewhere.url("/")))
        .await
        .unwrap_err();
    assert!(matches!(refused, HttpError::Address { .. }), "{refused:?}");
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_secret_is_masked_across_parts_and_a_line_is_not_held_back() {
    let (server, next, _gone) =
        parts(&["data: 1\n\n", "data: secret-", "KEY-42\n\n", "secret-key"]).await;
    let secret =
        BoundSecret::new("service", "http://a.example", "x-key", "", "secret-key-42").unwrap();
    let options = HttpOptions {
        secrets: vec![secret],
        ..names([("a.example", server.address())])
    };
    let client = HttpClient::from_options(options).unwrap();
    let mut stream = client
        .stream(&unlimited(), get("http://a.example/"))
        .await
        .unwrap();
    for shown in ["data: 1\n\n", "data: ", "[secret:service]\n\n"] {
        next.add_permits(1);
        assert_eq!(stream.chunk().await.unwrap().unwrap(), shown);
    }
    assert_eq!(server.received()[0].header("x-key"), Some("secret-key-42"));
}

#[tokio::test]
async fn a_stream_is_not_stored_and_one_that_may_change_a_resource_removes_what_is() {
    let server = TestServer::start(|_| {
        b"HTTP/1.1 200 OK\r\ncache-control: max-age=100\r\ncontent-length: 1\r\n\r\nx".to_vec()
    })
    .await;
    let client = HttpClient::from_options(HttpOptions {
        private_hosts: vec!["127.0.0.1".into()],
        ..HttpOptions::default()
    })
    .unwrap();
    let url = server.url("/");
    for (expected, step) in [
        (1, "stream"),
        (2, "send"),
        (2, "send"),
        (3, "stream"),
        (4, "post"),
        (5, "send"),
    ] {
        match step {
            "send" => assert_eq!(
                client.send(&unlimited(), get(&url)).await.unwrap().body,
                "x"
            ),
            "post" => drop(
                client
                    .stream(&unlimited(), Request::new(Method::POST, &url).unwrap())
                    .await
                    .unwrap(),
            ),
            _ => drop(client.stream(&unlimited(), get(&url)).await.unwrap()),
        }
        assert_eq!(server.received().len(), expected, "{step}");
    }
}
