//! The call's cancellation and deadline end a request.

use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;
use tools::{CancellationToken, ErrorCode, ToolError};
use tools_http::{HttpError, HttpLimits, Request};
use tools_testkit::http::TestServer;

use crate::setup::{local, unlimited};

/// Starts a server that never answers, and reports when its client is gone.
async fn silent() -> (TestServer, mpsc::UnboundedReceiver<&'static str>) {
    let (report, reports) = mpsc::unbounded_channel();
    let server = TestServer::start_streaming(move |_, mut stream| {
        let report = report.clone();
        async move {
            report.send("asked").unwrap();
            let _ = stream.read(&mut [0]).await;
            report.send("gone").unwrap();
        }
    })
    .await;
    (server, reports)
}

#[tokio::test]
async fn cancelling_the_call_closes_the_connection() {
    let (server, mut reports) = silent().await;
    let token = CancellationToken::new();
    let cx = unlimited().with_cancellation(token.clone());
    let client = local(HttpLimits::default());
    let request = Request::get(&server.url("/")).unwrap();
    let (answered, ()) = tokio::join!(client.send(&cx, request), async {
        assert_eq!(reports.recv().await, Some("asked"));
        token.cancel();
    });
    let cancelled = answered.unwrap_err();
    assert_eq!(
        cancelled,
        HttpError::Cancelled {
            url: server.url("/")
        }
    );
    assert_eq!(ToolError::from(cancelled).code(), ErrorCode::Cancelled);
    assert_eq!(reports.recv().await, Some("gone"));
}

#[tokio::test]
async fn the_deadline_of_the_call_ends_the_request() {
    let (server, mut reports) = silent().await;
    let cx = unlimited().with_deadline(Instant::now() + Duration::from_secs(1));
    let answered = local(HttpLimits::default())
        .send(&cx, Request::get(&server.url("/")).unwrap())
        .await;
    assert!(
        matches!(answered, Err(HttpError::Time { limit, .. }) if limit <= Duration::from_secs(1))
    );
    assert_eq!(
        (reports.recv().await, reports.recv().await),
        (Some("asked"), Some("gone"))
    );
}
