//! Calls of imported tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode,
    ProgressNotificationParam, Resource, ResourceContents,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, model};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tools::{
    CancellationToken, Content, Grant, Host, Progress, ProgressSink, SharedCatalog, Tool,
    ToolContext, ToolErrorKind,
};
use tools_mcp::client::Servers;

use crate::scripted::{BOTH, MODERN, Scripted, cx, defined, imported, tool};

#[tokio::test]
async fn content_of_every_kind_and_the_structured_value_arrive() {
    let result = || {
        let resource = |contents| ContentBlock::resource(contents);
        let content = vec![
            ContentBlock::text("hello"),
            ContentBlock::image("aW1n", "image/png"),
            serde_json::from_value(
                json!({"type": "audio", "data": "c25k", "mimeType": "audio/wav"}),
            )
            .unwrap(),
            resource(ResourceContents::text("body", "file:///a")),
            resource(
                serde_json::from_value(
                    json!({"uri": "file:///b", "mimeType": "x/y", "blob": "YmxvYg=="}),
                )
                .unwrap(),
            ),
            ContentBlock::resource_link(
                Resource::new("file:///c", "c")
                    .with_description("d")
                    .with_size(3),
            ),
        ];
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(json!({"n": 1}));
        result
    };
    for revision in BOTH {
        let scripted = Scripted::new(revision, vec![tool("t")])
            .with_call(move |_, _| async move { Ok(result().into()) });
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let result = catalog.execute(&cx(), "mcp:s/t", json!({})).await.unwrap();
        assert_eq!(
            serde_json::to_value(&result).unwrap(),
            json!({
                "content": [
                    {"type": "text", "text": "hello"},
                    {"type": "image", "data": "aW1n", "mime_type": "image/png"},
                    {"type": "audio", "data": "c25k", "mime_type": "audio/wav"},
                    {"type": "resource", "resource": {"uri": "file:///a", "mime_type": "text/plain", "text": "body"}},
                    {"type": "resource", "resource": {"uri": "file:///b", "mime_type": "x/y", "blob": "YmxvYg=="}},
                    {"type": "resource_link", "uri": "file:///c", "name": "c", "description": "d", "size": 3},
                    {"type": "text", "text": "{\"n\":1}"},
                ],
                "structured": {"n": 1},
            })
        );
    }
}

#[tokio::test]
async fn a_failure_of_the_tool_is_a_result_that_the_model_reads() {
    for revision in BOTH {
        let scripted = Scripted::new(revision, vec![tool("t")]).with_call(|_, _| async {
            Ok(CallToolResult::error(vec![ContentBlock::text("city is required")]).into())
        });
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let result = catalog.execute(&cx(), "mcp:s/t", json!({})).await.unwrap();
        assert!(result.is_error && result.content == [Content::text("city is required")]);
    }
}

#[tokio::test]
async fn a_result_without_content_has_a_text() {
    for (structured, is_error, expected) in [
        (Some(json!([1])), false, "[1]"),
        (None, false, "ok"),
        (None, true, "the tool failed and gave no reason"),
    ] {
        let scripted = Scripted::new(MODERN, vec![tool("t")]).with_call(move |_, _| {
            let mut result = CallToolResult::success(Vec::new());
            (result.structured_content, result.is_error) = (structured.clone(), Some(is_error));
            async { Ok(result.into()) }
        });
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let result = catalog.execute(&cx(), "mcp:s/t", json!({})).await.unwrap();
        assert_eq!(
            (result.to_text().as_str(), result.is_error),
            (expected, is_error)
        );
    }
}

#[tokio::test]
async fn an_error_of_the_protocol_is_a_typed_error() {
    for (code, is_expected) in [
        (
            ErrorCode::INVALID_PARAMS,
            (|kind| matches!(kind, ToolErrorKind::ExecutionFailed { .. })) as fn(_) -> bool,
        ),
        (ErrorCode::METHOD_NOT_FOUND, |kind| {
            matches!(kind, ToolErrorKind::Unavailable { .. })
        }),
        (ErrorCode::INTERNAL_ERROR, |kind| {
            matches!(kind, ToolErrorKind::ExecutionFailed { .. })
        }),
    ] {
        let scripted = Scripted::new(MODERN, vec![tool("t")]).with_call(move |_, _| async move {
            Err(ErrorData::new(code, "no\u{202e} way", None))
        });
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let error = catalog
            .execute(&cx(), "mcp:s/t", json!({}))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("no<U+202E> way"), "{error}");
        assert!(is_expected(error.kind().clone()));
    }
}

#[tokio::test]
async fn a_result_that_does_not_fit_the_output_schema_keeps_its_text_because_the_call_has_run() {
    let definition = json!({
        "name": "t", "inputSchema": {},
        "outputSchema": {"type": "object", "properties": {"c": {"type": "number"}}, "required": ["c"]},
    });
    for structured in [None, Some(json!({"c": "warm"}))] {
        let scripted =
            Scripted::new(MODERN, vec![defined(definition.clone())]).with_call(move |_, _| {
                let mut result = CallToolResult::success(vec![ContentBlock::text("warm")]);
                result.structured_content = structured.clone();
                async { Ok(result.into()) }
            });
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let result = catalog.execute(&cx(), "mcp:s/t", json!({})).await.unwrap();
        let text = result.to_text();
        assert!(
            text.starts_with("warm") && text.contains("has run") && !result.is_error,
            "{text}"
        );
        assert!(result.structured.is_none(), "{result:?}");
    }
}

#[tokio::test]
async fn an_integer_that_would_be_rounded_is_refused() {
    let (catalog, _servers, _) = imported(Scripted::new(MODERN, vec![tool("t")]).import("s")).await;
    let error = catalog
        .execute(
            &cx(),
            "mcp:s/t",
            r#"{"n": 123456789012345678901}"#.to_owned(),
        )
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::InvalidArguments { .. }),
        "{error}"
    );
}

/// A server whose call ends only when it is cancelled, and which tells when it began and ended.
pub(crate) fn endless(
    revision: model::ProtocolVersion,
) -> (Scripted, mpsc::UnboundedReceiver<&'static str>) {
    let (events, seen) = mpsc::unbounded_channel();
    let call = move |_: CallToolRequestParams, context: RequestContext<RoleServer>| {
        let events = events.clone();
        async move {
            events.send("began").unwrap();
            context.ct.cancelled().await;
            events.send("cancelled").unwrap();
            // An answer after the cancellation.
            Ok(CallToolResponse::from(CallToolResult::success(Vec::new())))
        }
    };
    (
        Scripted::new(revision, vec![tool("t")]).with_call(call),
        seen,
    )
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    for revision in BOTH {
        let (scripted, mut seen) = endless(revision);
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
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
async fn a_deadline_cancels_at_the_server_and_a_late_answer_is_dropped() {
    for revision in BOTH {
        let (scripted, mut seen) = endless(revision);
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        for _ in 0..2 {
            let cx = cx().with_timeout(Duration::from_millis(50));
            let error = catalog
                .execute(&cx, "mcp:s/t", json!({}))
                .await
                .unwrap_err();
            assert!(
                matches!(error.kind(), ToolErrorKind::Timeout { .. }),
                "{error}"
            );
            assert_eq!(
                (seen.recv().await, seen.recv().await),
                (Some("began"), Some("cancelled"))
            );
        }
    }
}

#[derive(Default)]
struct Reports(Mutex<Vec<(String, Progress)>>);

impl ProgressSink for Reports {
    fn report(&self, cx: &ToolContext, progress: Progress) {
        self.0
            .lock()
            .unwrap()
            .push((cx.call_id().unwrap_or_default().to_owned(), progress));
    }
}

#[tokio::test]
async fn progress_reaches_the_call_it_belongs_to() {
    for revision in BOTH {
        let scripted =
            Scripted::new(revision, vec![tool("t")]).with_call(|_, context| async move {
                let token = context.meta.get_progress_token().unwrap();
                for done in 1..=3 {
                    let param = ProgressNotificationParam::new(token.clone(), f64::from(done))
                        .with_total(3.0)
                        .with_message("wo\u{200b}rk");
                    context.peer.notify_progress(param).await.unwrap();
                }
                // Each notification has a task of its own in the client.
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok(CallToolResult::success(Vec::new()).into())
            });
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let reports = Arc::new(Reports::default());
        catalog
            .execute(&cx().with_progress(reports.clone()), "mcp:s/t", json!({}))
            .await
            .unwrap();
        let reports = reports.0.lock().unwrap();
        let mut done: Vec<_> = reports
            .iter()
            .filter_map(|(_, progress)| progress.done)
            .collect();
        done.sort_by(f64::total_cmp);
        assert_eq!(done, [1.0, 2.0, 3.0]);
        let (_, progress) = &reports[0];
        assert_eq!(
            (progress.total, progress.message.as_deref()),
            (Some(3.0), Some("wo<U+200B>rk"))
        );
    }
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_may_have_run_it_and_it_is_not_repeated() {
    for revision in BOTH {
        let (scripted, mut seen) = endless(revision);
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        let call = tokio::spawn(catalog.execute(&cx(), "mcp:s/t", json!({})));
        assert_eq!(seen.recv().await, Some("began"));
        scripted.kill();
        let error = call.await.unwrap().unwrap_err();
        assert!(error.to_string().contains("may have run"), "{error}");
        assert!(seen.try_recv().is_err());
    }
}

#[tokio::test]
async fn an_idempotent_call_is_repeated_on_the_next_connection() {
    let (began, mut calls) = mpsc::unbounded_channel();
    let (die, dies) = oneshot::channel::<()>();
    let die = Arc::new(Mutex::new(Some(die)));
    let scripted = Scripted::new(MODERN, vec![tool("t")]).with_call(move |_, _| {
        let first = die.lock().unwrap().take();
        began.send(()).unwrap();
        async move {
            if let Some(die) = first {
                die.send(()).unwrap();
                std::future::pending::<()>().await;
            }
            Ok(CallToolResult::success(vec![ContentBlock::text("second")]).into())
        }
    });
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let effects: tools::Effects =
        serde_json::from_value(json!({"writes": ["x:y"], "idempotent": true})).unwrap();
    let review = move |tool: Tool| {
        let limits = tools::Limits {
            max_retries: Some(8),
            ..tools::Limits::default()
        };
        Ok(tool.with_effects(effects.clone()).with_limits(limits))
    };
    let mut import = scripted.import("s");
    import.review = Some(Arc::new(review));
    servers.import(import).unwrap().ready().await.unwrap();
    let cx = Host::new().with_grant(Grant::parse(["x:write:**"]).unwrap());
    let call = tokio::spawn(catalog.execute(&cx, "mcp:s/t", json!({})));
    dies.await.unwrap();
    scripted.kill();
    assert_eq!(call.await.unwrap().unwrap().to_text(), "second");
    assert_eq!(
        (calls.recv().await, calls.recv().await),
        (Some(()), Some(()))
    );
}
