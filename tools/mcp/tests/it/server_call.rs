//! `tools/call`.

use std::sync::Arc;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tools::{Catalog, Effects, Host, Progress, Tool, ToolContext, ToolError, ToolResult};
use tools_mcp::server::{LogLevel, Peer, ServerLimits};

use crate::server_client::{BOTH, Person, call, connect, legacy, modern, server, text_of, tool};

fn number() -> Tool {
    let parameters =
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    Tool::new("number", "Returns a number.", parameters)
        .unwrap()
        .with_effects(Effects::Pure)
}

#[tokio::test]
async fn a_call_passes_the_pipeline_and_returns_the_result() {
    let mut catalog = Catalog::new();
    catalog
        .register(number(), async |cx: ToolContext, arguments: Value| {
            format!("{} {}", cx.session().unwrap(), arguments["n"])
        })
        .unwrap();
    let server = server(catalog, Host::new().with_session("s"));
    for mode in BOTH {
        let connected = connect(&server, mode, Person::silent()).await;
        let result = call(
            &connected.client,
            "number",
            json!({"n": 9_007_199_254_740_993_i64}),
        )
        .await
        .unwrap();
        assert_eq!(text_of(&result), ("s 9007199254740993".to_owned(), false));
        assert_eq!(result.structured_content, None);
    }
}

#[tokio::test]
async fn input_errors_and_tool_errors_are_results_that_the_model_reads() {
    let mut catalog = Catalog::new();
    catalog
        .register(number(), async |_: ToolContext, _: Value| "never")
        .unwrap();
    let failing = async |_: ToolContext, _: Value| {
        Err::<String, _>(ToolError::execution_failed("the disk is full"))
    };
    catalog.register(tool("fail"), failing).unwrap();
    let server = server(catalog, Host::new());
    for mode in BOTH {
        let connected = connect(&server, mode, Person::silent()).await;
        let (text, is_error) = text_of(
            &call(&connected.client, "number", json!({"n": "x"}))
                .await
                .unwrap(),
        );
        assert!(
            is_error && text.contains('n') && text.contains("integer"),
            "{text}"
        );
        let (text, is_error) = text_of(&call(&connected.client, "fail", json!({})).await.unwrap());
        assert!(is_error && text.contains("the disk is full"), "{text}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let mut catalog = Catalog::new();
    catalog
        .register(number(), async |_: ToolContext, _: Value| "never")
        .unwrap();
    let server = server(catalog, Host::new());
    for mode in BOTH {
        let connected = connect(&server, mode, Person::silent()).await;
        for name in ["numbr", "", "a b", "\u{202e}number"] {
            let error = call(&connected.client, name, json!({}))
                .await
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("-32602") && !error.contains('\u{202e}'),
                "{error}"
            );
        }
        let error = call(&connected.client, "numbr", json!({}))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("did you mean number?"), "{error}");
    }
}

#[tokio::test]
async fn structured_content_is_what_the_result_schema_obliges_to() {
    let mut catalog = Catalog::new();
    let given = async |_: ToolContext, given: Value| ToolResult::structured(given["value"].clone());
    catalog.register(tool("plain"), given).unwrap();
    let object = tool("object").with_output(json!({"type": "object"}));
    catalog.register(object, given).unwrap();
    catalog
        .register(tool("list").with_output(json!({"type": "array"})), given)
        .unwrap();
    let server = server(catalog, Host::new());
    let object = json!({"value": {"a": 1}});
    for (mode, list) in [(legacy(), None), (modern(), Some(json!([1])))] {
        let connected = connect(&server, mode, Person::silent()).await;
        let structured = async |name, arguments| {
            let result = call(&connected.client, name, arguments).await.unwrap();
            assert!(!text_of(&result).0.is_empty());
            result.structured_content
        };
        assert_eq!(structured("plain", object.clone()).await, None);
        assert_eq!(
            structured("object", object.clone()).await,
            Some(json!({"a": 1}))
        );
        assert_eq!(structured("list", json!({"value": [1]})).await, list);
        let broken = call(&connected.client, "object", json!({"value": [1]}))
            .await
            .unwrap();
        assert_eq!(
            (broken.is_error, broken.structured_content),
            (Some(true), None)
        );
    }
}

#[tokio::test]
async fn every_kind_of_content_arrives() {
    let content = json!([
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AAAA", "mime_type": "image/png"},
        {"type": "audio", "data": "AAAA", "mime_type": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "mime_type": "text/plain", "size": 3},
        {"type": "resource", "resource": {"uri": "file:///b", "mime_type": "text/plain", "text": "b"}},
        {"type": "resource", "resource": {"uri": "file:///c", "blob": "AAAA"}},
    ]);
    let mut catalog = Catalog::new();
    let result: ToolResult = serde_json::from_value(json!({"content": content})).unwrap();
    catalog
        .register(tool("all"), move |_: ToolContext, _: Value| {
            std::future::ready(result.clone())
        })
        .unwrap();
    let connected = connect(&server(catalog, Host::new()), modern(), Person::silent()).await;
    let result = call(&connected.client, "all", json!({})).await.unwrap();
    let camel = content.to_string().replace("mime_type", "mimeType");
    assert_eq!(
        serde_json::to_value(&result.content).unwrap(),
        serde_json::from_str::<Value>(&camel).unwrap()
    );
}

#[tokio::test]
async fn progress_and_log_messages_arrive_in_order_before_the_result() {
    let mut catalog = Catalog::new();
    let working = async |cx: ToolContext, _: Value| {
        let peer = cx.service::<Peer>().unwrap();
        for done in [0.0, 50.0, 100.0] {
            cx.report(Progress {
                message: Some("working".to_owned()),
                ..Progress::new(done, 100.0)
            });
            peer.log(LogLevel::Info, None, json!(done));
            peer.log(LogLevel::Debug, None, json!("too much"));
        }
        "done"
    };
    catalog.register(tool("work"), working).unwrap();
    let server = server(catalog, Host::new());
    let (person, mut heard) = Person::new(None);
    let connected = connect(&server, legacy(), person).await;
    call(&connected.client, "work", json!({})).await.unwrap();
    for done in [0.0, 50.0, 100.0] {
        assert_eq!(
            heard.recv().await.unwrap(),
            json!({"progress": done, "message": "working"})
        );
        assert_eq!(heard.recv().await.unwrap(), json!({"log": done}));
    }
    // From 2026-07-28 on, a client names the level with the request.
    let (person, mut heard) = Person::new(None);
    let connected = connect(&server, modern(), person).await;
    call(&connected.client, "work", json!({})).await.unwrap();
    for done in [0.0, 50.0, 100.0] {
        assert_eq!(
            heard.recv().await.unwrap(),
            json!({"progress": done, "message": "working"})
        );
    }
}

/// Returns a catalog whose tool waits for its cancellation, and the signals of its start and its end.
pub(crate) fn waiting() -> (Catalog, Arc<Notify>, Arc<Notify>) {
    let (started, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = (started.clone(), ended.clone());
    let mut catalog = Catalog::new();
    let wait = move |cx: ToolContext, _: Value| {
        let (started, ended) = signals.clone();
        async move {
            started.notify_one();
            cx.cancellation().cancelled().await;
            ended.notify_one();
            "cancelled"
        }
    };
    catalog.register(tool("wait"), wait).unwrap();
    (catalog, started, ended)
}

#[tokio::test]
async fn a_notification_of_the_client_cancels_a_call() {
    for mode in BOTH {
        let (catalog, started, ended) = waiting();
        let connected = connect(&server(catalog, Host::new()), mode, Person::silent()).await;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(
            CallToolRequestParams::new("wait"),
        ));
        let handle = connected
            .client
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .unwrap();
        started.notified().await;
        handle.cancel(None).await.unwrap();
        ended.notified().await;
    }
}

#[tokio::test]
async fn a_shutdown_cancels_a_call() {
    let (catalog, started, ended) = waiting();
    let connected = connect(&server(catalog, Host::new()), legacy(), Person::silent()).await;
    let client = connected.client.peer().clone();
    tokio::spawn(async move { client.call_tool(CallToolRequestParams::new("wait")).await });
    started.notified().await;
    connected.shutdown.cancel();
    ended.notified().await;
    connected.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_is_gone_cancels_its_call() {
    tokio::time::pause();
    let (catalog, started, ended) = waiting();
    let connected = connect(&server(catalog, Host::new()), legacy(), Person::silent()).await;
    let client = connected.client.peer().clone();
    tokio::spawn(async move { client.call_tool(CallToolRequestParams::new("wait")).await });
    started.notified().await;
    connected.client.cancel().await.unwrap();
    ended.notified().await;
    connected.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_beyond_the_limit_are_refused() {
    let (catalog, started, ended) = waiting();
    let server = server(catalog, Host::new()).with_limits(ServerLimits {
        max_calls: 1,
        ..ServerLimits::default()
    });
    let connected = connect(&server, legacy(), Person::silent()).await;
    let request =
        ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("wait")));
    let first = connected
        .client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .unwrap();
    started.notified().await;
    let (text, is_error) = text_of(&call(&connected.client, "wait", json!({})).await.unwrap());
    assert!(is_error && text.contains("too many calls"), "{text}");
    first.cancel(None).await.unwrap();
    ended.notified().await;
}
