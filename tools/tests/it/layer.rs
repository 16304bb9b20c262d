//! Layers around handlers: their order and their limits.

use std::sync::Arc;
use std::time::Duration;

use crate::sample::{
    Log, No, closed, echo, echoing, granted, hang, holding, pure, reader, with_timeout,
};
use serde_json::{Value, json};
use tools::layer::{Layer, Next};
use tools::{
    ErrorCode, Grant, HandlerFuture, Host, Limits, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolResult,
};

/// Logs when a call enters and leaves.
struct Trace(&'static str, Log);

impl Layer for Trace {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            self.1.note(format!("{}> {}", self.0, next.arguments()));
            let result = next.call(cx).await;
            let how = result
                .as_ref()
                .map_or_else(|error| error.code().to_string(), ToolResult::to_text);
            self.1.note(format!("<{} {how}", self.0));
            result
        })
    }
}

#[tokio::test]
async fn the_layer_that_was_added_first_is_outermost() {
    let log = Log::default();
    let trace = |name| Trace(name, log.clone());
    let handler = {
        let log = log.clone();
        move |_: ToolContext, _: Value| {
            log.note("tool".to_owned());
            std::future::ready("done".to_owned())
        }
    };
    let catalog = holding(pure("t"), handler);
    let cx = Host::new()
        .with_layer(Arc::new(trace("a")))
        .with_layer(Arc::new(trace("b")));
    catalog.execute(&cx, "t", json!({})).await.unwrap();
    assert_eq!(
        log.taken(),
        ["a> {}", "b> {}", "tool", "<b done", "<a done"]
    );
}

#[tokio::test]
async fn a_refused_call_reaches_no_layer() {
    let log = Log::default();
    let catalog = echoing([closed("closed"), reader("read")]);
    let cx = granted(&["fs:read:src/**"]).with_layer(Arc::new(Trace("a", log.clone())));
    catalog
        .execute(&cx, "closed", json!({"text": 1.5}))
        .await
        .unwrap_err();
    catalog
        .execute(&cx, "read", json!({"path": "b"}))
        .await
        .unwrap_err();
    catalog
        .execute(
            &cx.clone().with_approver(Arc::new(No)),
            "read",
            json!({"path": "b"}),
        )
        .await
        .unwrap_err();
    assert_eq!(log.taken(), [""; 0]);
    catalog
        .execute(&cx, "read", json!({"path": "src/a"}))
        .await
        .unwrap();
    assert_eq!(log.taken().len(), 2);
}

/// Answers instead of the tool, or interferes with it.
struct Odd(fn(ToolContext, Next<'_>) -> HandlerFuture<'_>);

impl Layer for Odd {
    fn call<'a>(&'a self, cx: ToolContext, next: Next<'a>) -> HandlerFuture<'a> {
        (self.0)(cx, next)
    }
}

async fn run(
    tool: Tool,
    odd: fn(ToolContext, Next<'_>) -> HandlerFuture<'_>,
) -> Result<ToolResult, ToolError> {
    let catalog = echoing([tool]);
    let cx = Host::new().with_layer(Arc::new(Odd(odd)));
    catalog.execute(&cx, "t", json!({})).await
}

#[tokio::test]
async fn the_result_of_a_layer_is_checked_and_bounded() {
    let instead: fn(ToolContext, Next<'_>) -> HandlerFuture<'_> =
        |_, _| HandlerFuture::new(async { Ok(ToolResult::text("x".repeat(1000))) });
    let short = pure("t").with_limits(Limits {
        max_output_bytes: Some(100),
        ..Limits::default()
    });
    assert!(
        run(short, instead)
            .await
            .unwrap()
            .to_text()
            .contains("bytes left out")
    );
    let promising = pure("t").with_output(json!({"type": "object"}));
    assert_eq!(
        run(promising, instead).await.unwrap_err().code(),
        ErrorCode::InvalidOutput
    );
}

#[tokio::test]
async fn a_layer_that_panics_or_waits_ends_like_a_tool() {
    let error = run(pure("t"), |_, _| panic!("a layer")).await.unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Panicked { message, .. } if message == "a layer"),
        "{error}"
    );
    let impatient = with_timeout(pure("t"), Duration::from_millis(50));
    let error = run(impatient, |_, _| HandlerFuture::new(std::future::pending()))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
    let cx = Host::new()
        .with_timeout(Duration::from_millis(20))
        .with_layer(Arc::new(Odd(|cx, next| next.call(cx))));
    let error = holding(pure("t"), hang)
        .execute(&cx, "t", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
}

#[tokio::test]
async fn a_layer_narrows_what_a_tool_may_touch_and_never_widens_it() {
    let touch = async |cx: ToolContext, arguments: Value| {
        cx.require(
            tools::Access::Read,
            "fs",
            arguments["path"].as_str().unwrap_or_default(),
        )
    };
    let catalog = holding(pure("t"), touch);
    let call = async |layer: Odd, path: &str| {
        let cx = granted(&["fs:read:src/**"]).with_layer(Arc::new(layer));
        catalog
            .execute(&cx, "t", json!({"path": path}))
            .await
            .map(drop)
    };
    let narrowing = || Odd(|cx, next| next.call(cx.narrow(["fs:read:src/a".parse().unwrap()])));
    call(narrowing(), "src/a").await.unwrap();
    assert_eq!(
        call(narrowing(), "src/b").await.unwrap_err().code(),
        ErrorCode::PermissionDenied
    );
    let widening = || {
        Odd(|cx, next| {
            let wider = cx.host().map(|host| host.with_grant(Grant::all()).into());
            next.call(wider.unwrap_or(cx))
        })
    };
    assert_eq!(
        call(widening(), "docs/a").await.unwrap_err().code(),
        ErrorCode::PermissionDenied
    );
    let forging = Odd(|_, next| next.call(Host::new().with_grant(Grant::all()).into()));
    let error = call(forging, "docs/a").await.unwrap_err();
    assert!(
        error.to_string().contains("context of another call"),
        "{error}"
    );
}

#[tokio::test]
async fn calls_inside_of_a_call_have_the_layers_of_the_context_and_no_others() {
    let log = Log::default();
    let outer = |cx: ToolContext, arguments: Value| {
        assert!(cx.host().is_none());
        async move { cx.execute("inner", arguments).await }
    };
    let mut catalog = holding(pure("outer"), outer);
    catalog.register(pure("inner"), echo).unwrap();
    let cx = Host::new().with_layer(Arc::new(Trace("a", log.clone())));
    catalog
        .execute(&cx, "outer", json!({"n": 1}))
        .await
        .unwrap();
    assert_eq!(
        log.taken(),
        [
            r#"a> {"n":1}"#,
            r#"a> {"n":1}"#,
            r#"<a {"n":1}"#,
            r#"<a {"n":1}"#
        ]
    );
}
