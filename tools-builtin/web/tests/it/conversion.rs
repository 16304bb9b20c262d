//! Calls of `web.fetch` whose conversions wait for each other.

use serde_json::json;
use tools::{CancellationToken, ErrorCode};
use tools_http::testing::TestServer;

use crate::fetch::host;

/// A number of calls that is greater than that of the conversions that run at a time.
const MANY: usize = 12;

/// Starts a server with a page that takes long to convert.
async fn serve_long_page() -> TestServer {
    let page = "<p>Text. ".repeat(50_000);
    TestServer::start(move |_| TestServer::ok("text/html", &page)).await
}

#[tokio::test]
async fn calls_at_the_same_time_all_answer() {
    let server = serve_long_page().await;
    let host = host(&server);
    let calls: Vec<_> = (0..MANY)
        .map(|call| tokio::spawn(host.call("web.fetch", json!({"url": server.url(&format!("/{call}"))}))))
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let text = call.await.unwrap().unwrap().to_text();
        assert!(text.contains(&server.url(&format!("/{number}"))) && text.contains("\nText.\n"), "{number}");
    }
}

#[tokio::test]
async fn calls_that_are_cancelled_leave_room_for_others() {
    let server = serve_long_page().await;
    let host = host(&server);
    for number in 0..MANY {
        let token = CancellationToken::new();
        let call = host.clone().with_context(|cx| cx.with_cancellation(token.clone()));
        let call = tokio::spawn(call.call("web.fetch", json!({"url": server.url(&format!("/{number}"))})));
        while server.received().len() <= number {
            tokio::task::yield_now().await;
        }
        token.cancel();
        assert_eq!(call.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled, "{number}");
    }
    let text = host.text("web.fetch", json!({"url": server.url("/last")})).await;
    assert!(text.contains("\nText.\n"), "{text}");
}
