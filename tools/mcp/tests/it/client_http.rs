//! Servers that are imported over streamable HTTP.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tools::context::AnswerFuture;
use tools::{Answer, CancellationToken, Person, Question, ToolContext, ToolErrorKind};
use tools_mcp::client::{HttpServer, Import, Status};

use crate::client_call::endless;
use crate::client_elicitation::{asking, form};
use crate::scripted::{BOTH, Scripted, cx, imported, tool};

/// Serves on loopback until the test ends.
async fn served(scripted: Scripted) -> Import {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service: StreamableHttpService<Scripted, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(scripted.clone()),
        Default::default(),
        StreamableHttpServerConfig::default(),
    );
    tokio::spawn(async move {
        axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await
    });
    Import::from_http("s".parse().unwrap(), HttpServer::new(&url).unwrap())
}

fn revision(status: &Status) -> Option<&str> {
    match status {
        Status::Connected { protocol } => Some(protocol),
        _ => None,
    }
}

#[tokio::test]
async fn a_server_is_imported_and_called() {
    for spoken in BOTH {
        let import = served(Scripted::new(spoken.clone(), vec![tool("t")])).await;
        let (catalog, _servers, imported) = imported(import).await;
        assert_eq!(revision(&imported.status()), Some(spoken.as_str()));
        let result = catalog
            .execute(&cx(), "mcp:s/t", json!({"n": 1}))
            .await
            .unwrap();
        assert_eq!(result.to_text(), r#"{"arguments":{"n":1},"tool":"t"}"#);
    }
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    for spoken in BOTH {
        let (scripted, mut seen) = endless(spoken);
        let (catalog, _servers, _) = imported(served(scripted).await).await;
        let token = CancellationToken::new();
        let call = tokio::spawn(catalog.execute(
            &cx().with_cancellation(token.clone()),
            "mcp:s/t",
            json!({}),
        ));
        assert_eq!(seen.recv().await, Some("began"));
        token.cancel();
        assert_eq!(seen.recv().await, Some("cancelled"));
        assert!(matches!(
            call.await.unwrap().unwrap_err().kind(),
            ToolErrorKind::Cancelled
        ));
    }
}

#[tokio::test]
async fn a_changed_list_is_followed() {
    for spoken in BOTH {
        let scripted = Scripted::new(spoken, vec![tool("old")]);
        let (catalog, _servers, _) = imported(served(scripted.clone()).await).await;
        let mut changes = catalog.subscribe();
        scripted.tools.send_replace(vec![tool("new")]);
        while catalog.names() != ["mcp:s/new"] {
            changes.changed().await;
        }
    }
}

struct Names(&'static str);

impl Person for Names {
    fn answer<'a>(&'a self, _: &'a Question, cx: &'a ToolContext) -> AnswerFuture<'a> {
        assert_eq!(cx.session(), Some(self.0));
        Box::pin(async { Ok(Answer::Text(self.0.to_owned())) })
    }
}

#[tokio::test]
async fn each_session_answers_the_questions_of_its_own_calls() {
    for spoken in BOTH {
        let question = form(json!({"name": {"type": "string"}}), json!(["name"]));
        let (catalog, _servers, _) = imported(served(asking(spoken, question)).await).await;
        let calls = ["ada", "bob", "cleo", "dan"].map(|name| {
            let cx = cx().with_session(name).with_person(Arc::new(Names(name)));
            (
                name,
                tokio::spawn(catalog.execute(&cx, "mcp:s/t", json!({}))),
            )
        });
        for (name, call) in calls {
            let answer: Value =
                serde_json::from_str(&call.await.unwrap().unwrap().to_text()).unwrap();
            assert_eq!(
                answer,
                json!({"action": "accept", "content": {"name": name}})
            );
        }
    }
}

#[tokio::test]
async fn an_endpoint_that_is_no_server_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new()).await });
    let servers = tools_mcp::client::Servers::new(Default::default());
    let import = Import::from_http("s".parse().unwrap(), HttpServer::new(&url).unwrap());
    let error = servers.import(import).unwrap().ready().await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
}

/// Answers the messages of revision 2025-11-25. A call gets pings without end, which are counted, and no answer to a ping is taken.
async fn pinging(counted: Arc<AtomicUsize>, body: axum::body::Bytes) -> axum::response::Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let info = json!({"name": "raw", "version": "1"});
    let result = match message["method"].as_str() {
        Some("initialize") => {
            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
        }
        Some("tools/list") => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
        Some("tools/call") => {
            let text = "x".repeat(10_000);
            let pings = (0..MOST_PINGS).map(move |number| {
                counted.fetch_add(1, SeqCst);
                let params = json!({"_meta": {"text": text}});
                let ping =
                    json!({"jsonrpc": "2.0", "id": number, "method": "ping", "params": params});
                Ok::<_, Infallible>(format!("data: {ping}\n\n"))
            });
            let body = axum::body::Body::from_stream(futures_util::stream::iter(pings));
            return ([("content-type", "text/event-stream")], body).into_response();
        }
        Some("server/discover") => return StatusCode::BAD_REQUEST.into_response(),
        Some(_) => return StatusCode::ACCEPTED.into_response(),
        None => std::future::pending().await,
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    ([("content-type", "application/json")], answer).into_response()
}

const MOST_PINGS: usize = 20_000;

#[tokio::test]
async fn a_server_that_takes_no_answers_waits() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let pings = Arc::new(AtomicUsize::new(0));
    let counted = pings.clone();
    let router = axum::Router::new().route(
        "/mcp",
        axum::routing::post(move |body| pinging(counted.clone(), body)),
    );
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (catalog, _servers, _) = imported(Import::from_http(
        "s".parse().unwrap(),
        HttpServer::new(&url).unwrap(),
    ))
    .await;
    tokio::spawn(catalog.execute(&cx(), "mcp:s/t", json!({})));
    let mut before = 0;
    // The pings in the buffers of the system are sent too.
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        match pings.load(SeqCst) {
            now if now > 0 && now == before => break,
            now => before = now,
        }
    }
    assert!(before < MOST_PINGS / 2, "{before}");
}

#[tokio::test]
async fn a_refused_call_says_what_the_server_said_and_when_another_one_may_succeed() {
    for (status, ran, retry_after) in [
        (StatusCode::FORBIDDEN, "HTTP 403", None),
        (StatusCode::METHOD_NOT_ALLOWED, "HTTP 405", None),
        (StatusCode::TOO_MANY_REQUESTS, "did not run", Some(45)),
        (StatusCode::BAD_GATEWAY, "may have run", Some(45)),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = move |body: axum::body::Bytes| async move {
            let message: Value = serde_json::from_slice(&body).unwrap();
            match message["method"].as_str() {
                Some("tools/call") => (status, [("retry-after", "45")], "no").into_response(),
                _ => pinging(Arc::default(), body).await,
            }
        };
        let router = axum::Router::new().route("/mcp", axum::routing::post(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let server = HttpServer::new(&url).unwrap();
        let (catalog, _servers, _) =
            imported(Import::from_http("s".parse().unwrap(), server)).await;
        let error = catalog
            .execute(&cx(), "mcp:s/t", json!({}))
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains(ran) && text.contains("refused"), "{text}");
        let later = match error.kind() {
            ToolErrorKind::Transient { retry_after, .. } => *retry_after,
            _ => None,
        };
        assert_eq!(later, retry_after.map(Duration::from_secs));
    }
}

#[tokio::test]
async fn a_server_whose_answer_to_a_notification_is_useless_is_called() {
    let (html, events) = ("text/html", "text/event-stream");
    for (status, kind, text) in [
        (StatusCode::INTERNAL_SERVER_ERROR, html, "<h1>Oops</h1>"),
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            "application/json",
            "{\"error\":1}",
        ),
        (StatusCode::NOT_FOUND, html, "<h1>No</h1>"),
        (StatusCode::OK, html, "<h1>It works</h1>"),
        (StatusCode::OK, "application/json", "no JSON"),
        (StatusCode::OK, events, ""),
        (StatusCode::OK, events, "data: no JSON\n\n"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let answer = move |body: axum::body::Bytes| async move {
            let message: Value = serde_json::from_slice(&body).unwrap();
            if message.get("id").is_none() {
                return (status, [("content-type", kind)], text).into_response();
            }
            if message["method"] == "tools/call" {
                let result = json!({"content": [{"type": "text", "text": "ran"}]});
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                return ([("content-type", "application/json")], answer.to_string())
                    .into_response();
            }
            pinging(Arc::default(), body).await
        };
        let router = axum::Router::new().route("/mcp", axum::routing::post(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let server = HttpServer::new(&url).unwrap();
        let (catalog, _servers, _) =
            imported(Import::from_http("s".parse().unwrap(), server)).await;
        let ran = catalog.execute(&cx(), "mcp:s/t", json!({})).await.unwrap();
        assert_eq!(ran.to_text(), "ran", "{status} {kind} {text}");
    }
}
