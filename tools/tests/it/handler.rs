//! The kinds of handlers, all reached through the pipeline.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fmt, io};

use crate::sample::{holding, pure};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::handler::{blocking, typed};
use tools::{
    Access, Effects, ErrorCode, Handler, HandlerFuture, Host, Input, JsonSchema, Tool, ToolContext,
    ToolError, ToolErrorKind, ToolResult, schema_of,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Repeat {
    /// The text to repeat.
    text: String,
    /// The number of repetitions.
    #[serde(default = "twice")]
    times: usize,
}

fn twice() -> usize {
    2
}

fn repeat() -> Tool {
    Tool::new("t", "Repeats a text.", schema_of::<Repeat>())
        .unwrap()
        .with_effects(Effects::Pure)
}

async fn run(tool: Tool, handler: impl Handler, arguments: Value) -> Result<ToolResult, ToolError> {
    let catalog = holding(tool, handler);
    catalog.execute(&Host::new(), "t", arguments).await
}

async fn by_function(_cx: ToolContext, arguments: Value) -> Result<String, String> {
    arguments["text"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| "no text; pass one".to_owned())
}

#[tokio::test]
async fn functions_and_closures_are_handlers() {
    assert_eq!(
        run(pure("t"), by_function, json!({"text": "a"}))
            .await
            .unwrap()
            .to_text(),
        "a"
    );
    let error = run(pure("t"), by_function, json!({})).await.unwrap_err();
    assert_eq!(
        error,
        ToolError::new(
            "t",
            ToolErrorKind::ExecutionFailed {
                message: "no text; pass one".into()
            }
        )
    );
    let captured = "b".to_owned();
    let closure = move |_: ToolContext, _: Value| {
        let captured = captured.clone();
        async move { Ok::<_, String>(captured) }
    };
    assert_eq!(
        run(pure("t"), closure, json!({})).await.unwrap().to_text(),
        "b"
    );
}

#[tokio::test]
async fn typed_handlers_take_the_type_their_schema_is_made_of() {
    let handler = || {
        typed(async |_cx: ToolContext, Repeat { text, times }| Ok::<_, String>(text.repeat(times)))
    };
    assert_eq!(
        run(repeat(), handler(), json!({"text": "a"}))
            .await
            .unwrap()
            .to_text(),
        "aa"
    );
    assert_eq!(
        run(repeat(), handler(), json!({"text": "a", "times": 3}))
            .await
            .unwrap()
            .to_text(),
        "aaa"
    );
    let error = run(repeat(), handler(), json!({"text": "a", "times": -1}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidArguments, "{error}");
}

#[tokio::test]
async fn a_type_narrower_than_its_schema_refuses_without_a_panic() {
    let wide = Tool {
        parameters: json!({"type": "object"}),
        ..repeat()
    };
    let handler = typed(async |_cx: ToolContext, Repeat { text, .. }| Ok::<_, String>(text));
    assert_eq!(
        run(wide, handler, json!({"text": 1}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::InvalidArguments
    );
}

#[tokio::test]
async fn blocking_handlers_run_off_the_callers_thread() {
    let here = std::thread::current().id();
    let elsewhere =
        move |_: &ToolContext, _: Value| Ok::<_, String>(std::thread::current().id() != here);
    assert_eq!(
        run(pure("t"), blocking(elsewhere), json!({}))
            .await
            .unwrap()
            .structured,
        Some(json!(true).into())
    );
}

/// A struct with state.
#[derive(Default)]
struct Counting(AtomicU64);

impl Handler for Counting {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::new(async {
            Ok(ToolResult::structured(json!(
                self.0.fetch_add(1, Ordering::Relaxed) + 1
            )))
        })
    }
}

#[tokio::test]
async fn a_struct_keeps_its_state_from_call_to_call() {
    let catalog = holding(pure("t"), Counting::default());
    for count in 1..4 {
        let result = catalog.execute(&Host::new(), "t", json!({})).await.unwrap();
        assert_eq!(result.structured, Some(json!(count).into()));
    }
}

#[tokio::test]
async fn the_tool_sees_the_facts_of_its_call() {
    let tell = async |cx: ToolContext, _: Value| {
        let facts = [
            cx.call_id(),
            cx.session(),
            cx.principal(),
            cx.channel(),
            cx.chat(),
            cx.correlation_id(),
        ];
        assert!(cx.deadline().is_some());
        Ok::<_, String>(
            json!({"facts": facts, "tool": cx.tool().unwrap().as_str(), "depth": cx.depth()}),
        )
    };
    let catalog = holding(pure("t"), tell);
    let cx = Host::new()
        .with_place(CallPlace::default().with_id("call"))
        .with_session("session")
        .with_principal("principal")
        .with_channel("channel")
        .with_chat("chat")
        .with_correlation_id("correlation");
    let result = catalog.execute(&cx, "t", json!({})).await.unwrap();
    assert_eq!(
        result.structured.unwrap(),
        json!({"facts": ["call", "session", "principal", "channel", "chat", "correlation"], "tool": "t", "depth": 1})
    );
}

#[tokio::test]
async fn more_blocking_calls_than_places_all_get_their_turn() {
    let catalog = holding(
        pure("t"),
        blocking(|_: &ToolContext, _: Value| Ok::<_, String>(())),
    );
    let calls: Vec<_> = (0..4 * crate::sample::MAX_BLOCKING)
        .map(|_| tokio::spawn(catalog.execute(&Host::new(), "t", json!({}))))
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[derive(Debug)]
struct NoteError {
    source: ToolError,
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot keep the note: {}", self.source)
    }
}

impl Error for NoteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

impl From<ToolError> for NoteError {
    fn from(source: ToolError) -> Self {
        Self { source }
    }
}

fn needs_more(cx: &ToolContext) -> Result<(), ToolError> {
    cx.require(Access::Write, "fs", "secret")
}

/// Returns the error of a failing handler.
async fn outcome(handler: impl Handler) -> ToolError {
    run(pure("t"), handler, json!({})).await.unwrap_err()
}

#[tokio::test]
async fn a_tool_error_keeps_its_kind_and_its_text_through_any_error() {
    let plain = outcome(async |cx: ToolContext, _: Value| needs_more(&cx)).await;
    assert_eq!(plain.code(), ErrorCode::PermissionDenied, "{plain}");
    let boxed = async |cx: ToolContext, _: Value| -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(needs_more(&cx)?)
    };
    assert_eq!(outcome(boxed).await, plain);
    let wrapped =
        async |cx: ToolContext, _: Value| -> Result<(), NoteError> { Ok(needs_more(&cx)?) };
    assert_eq!(outcome(wrapped).await, plain);
    let twice = async |cx: ToolContext, _: Value| -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(needs_more(&cx).map_err(NoteError::from)?)
    };
    assert_eq!(outcome(twice).await, plain);
    let by_io = async |cx: ToolContext, _: Value| -> io::Result<()> {
        needs_more(&cx).map_err(io::Error::other)
    };
    assert_eq!(outcome(by_io).await, plain);
    let in_a_box = async |cx: ToolContext, _: Value| needs_more(&cx).map_err(Box::new);
    assert_eq!(outcome(in_a_box).await, plain);
    let blocking =
        blocking(|cx: &ToolContext, _: Value| -> Result<(), NoteError> { Ok(needs_more(cx)?) });
    assert_eq!(outcome(blocking).await, plain);
}

/// An error type that forwards the error of a nested call unchanged.
#[derive(Debug, thiserror::Error)]
enum Forwarded {
    #[error(transparent)]
    Nested(#[from] ToolError),
}

#[tokio::test]
async fn the_error_of_a_nested_call_keeps_its_tool_behind_a_transparent_error() {
    let inner = async |_: ToolContext, _: Value| {
        Err::<(), _>(ToolErrorKind::Unavailable {
            reason: "gone".to_owned(),
        })
    };
    let mut catalog = holding(pure("inner"), inner);
    let outer = async |cx: ToolContext, _: Value| -> Result<ToolResult, Forwarded> {
        Ok(cx.execute("inner", json!({})).await?)
    };
    catalog.register(pure("outer"), outer).unwrap();
    let error = catalog
        .execute(&Host::new(), "outer", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.tool_name()),
        (ErrorCode::Unavailable, "inner"),
        "{error}"
    );
}

#[tokio::test]
async fn an_error_of_the_system_is_one_of_the_tool() {
    fn missing() -> io::Result<String> {
        std::fs::read_to_string("/nowhere/at/all")
    }
    let message = missing().unwrap_err().to_string();
    let failed = ToolError::new("t", ToolErrorKind::ExecutionFailed { message });
    let own = async |_: ToolContext, _: Value| -> Result<String, ToolError> { Ok(missing()?) };
    assert_eq!(outcome(own).await, failed);
    let alone = async |_: ToolContext, _: Value| missing();
    assert_eq!(outcome(alone).await, failed);
    let inside = async |cx: ToolContext, _: Value| -> Result<(), ToolError> {
        Ok(needs_more(&cx).map_err(io::Error::other)?)
    };
    assert_eq!(outcome(inside).await.code(), ErrorCode::PermissionDenied);
}
