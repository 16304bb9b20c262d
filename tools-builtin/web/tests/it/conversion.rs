//! Calls of `web.fetch` whose conversions wait for each other.

use serde_json::json;
use tools_testkit::http::TestServer;

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
        .map(|call| {
            tokio::spawn(host.call("web.fetch", json!({"url": server.url(&format!("/{call}"))})))
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let text = call.await.unwrap().unwrap().to_text();
        assert!(
            text.contains(&server.url(&format!("/{number}"))) && text.contains("\nText.\n"),
            "{number}"
        );
    }
}
