//! The work of a task: its result, its permissions and its end.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::protocol::Limits;
use tools::{
    CancellationToken, Catalog, Effects, ErrorCode, Grant, Json, Progress, ProgressSink, Tasks,
    Tool, ToolContext, ToolError, ToolResult,
};

use super::session::{Session, Work};

/// A catalog with a tool whose schema requires a number, and whose calls go on as tasks.
fn slow(work: Arc<Work>) -> Catalog {
    let mut catalog = Catalog::new();
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let tool = Tool::new("slow", "Takes long.", json!({"type": "object"}))
        .unwrap()
        .with_output(schema);
    let run = move |cx: ToolContext, arguments: Value| {
        let work = work.clone();
        async move {
            let handle = cx.need::<Tasks>()?.insert(&cx, work)?;
            let mut result = ToolResult::text(format!("it goes on as {handle}")).with_task(handle);
            result.structured = arguments.get("structured").cloned().map(Json::from);
            Ok::<_, ToolError>(result)
        }
    };
    catalog
        .register(tool.with_effects(Effects::Pure), run)
        .unwrap();
    catalog
}

#[tokio::test]
async fn a_handle_need_not_fit_the_output_schema_but_the_result_of_the_task_does() {
    let session = Session::new();
    let work = session.work("slow");
    let catalog = slow(work.clone());
    let result = catalog
        .execute(&session.cx, "slow", json!({}))
        .await
        .unwrap();
    assert_eq!(result.task.as_deref(), Some("t1"));
    let error = catalog
        .execute(&session.cx, "slow", json!({"structured": {"n": "x"}}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidOutput);
    let tasks = session.tasks();
    for (structured, fits) in [
        (Some(json!({"n": 1})), true),
        (Some(json!({"n": "1"})), false),
        (None, false),
    ] {
        work.end(ToolResult {
            structured: structured.map(Json::from),
            ..ToolResult::text("x")
        });
        for _ in 0..2 {
            let read = tasks.result(&session.cx, "t1").await;
            assert_eq!(
                read.map_err(|error| error.code()).err(),
                (!fits).then_some(ErrorCode::InvalidOutput)
            );
        }
    }
    work.end(ToolResult::error("it broke"));
    assert!(tasks.result(&session.cx, "t1").await.unwrap().is_error);
}

/// A call whose work outlives it, and the context of the work.
async fn detached(
    cx: &ToolContext,
    catalog: &mut Catalog,
    token: &CancellationToken,
) -> ToolContext {
    let (token, made) = (token.clone(), Arc::new(Mutex::new(None)));
    let slot = made.clone();
    let starts = move |cx: ToolContext, _: Value| {
        *slot.lock().unwrap() = cx
            .service::<Tasks>()
            .map(|tasks| tasks.context(&cx, token.clone()));
        async { "started" }
    };
    let starts_tool = Tool::new("starts", "Starts.", json!({"type": "object"})).unwrap();
    let limits = Limits {
        timeout_ms: Some(3_600_000),
        ..Limits::default()
    };
    let narrow = async |cx: ToolContext, _: Value| {
        let inner = cx.narrow(["fs:read:**".parse().unwrap()]);
        let place = CallPlace::default().with_progress(Arc::new(NoProgress));
        let inner = place.enter(inner);
        inner.execute("starts", json!({})).await
    };
    catalog
        .register(
            starts_tool.with_effects(Effects::Pure).with_limits(limits),
            starts,
        )
        .unwrap();
    let outer = Tool::new("outer", "Calls.", json!({"type": "object"})).unwrap();
    catalog
        .register(outer.with_effects(Effects::Pure), narrow)
        .unwrap();
    catalog.execute(cx, "outer", json!({})).await.unwrap();
    let made = made.lock().unwrap().take();
    made.unwrap()
}

/// A sink for the progress of running calls.
struct NoProgress;

impl ProgressSink for NoProgress {
    fn report(&self, cx: &ToolContext, _: Progress) {
        panic!("{cx:?} has ended");
    }
}

#[tokio::test]
async fn the_work_of_a_task_has_the_permissions_of_its_call_and_outlives_it() {
    let session = Session::new();
    let mut catalog = Catalog::new();
    let looks = async |cx: ToolContext, _: Value| {
        let may = |target: &str| cx.grant().permits(&target.parse().unwrap());
        format!("{} {} {}", cx.depth(), may("fs:read:a"), may("fs:write:a"))
    };
    let looks_tool = Tool::new("looks", "Looks.", json!({"type": "object"})).unwrap();
    catalog
        .register(looks_tool.with_effects(Effects::Pure), looks)
        .unwrap();
    let token = CancellationToken::new();
    let grant = Grant::parse(["fs:*:**"]).unwrap();
    let cx = detached(&session.cx.clone().with_grant(grant), &mut catalog, &token).await;
    assert!(!cx.is_cancelled() && cx.tool().is_some_and(|tool| *tool == *"starts"));
    // A call with a time limit of 30 s made it.
    let left = cx
        .deadline()
        .unwrap()
        .saturating_duration_since(Instant::now());
    assert!(left > Duration::from_secs(1800), "{left:?}");
    cx.report(Progress::message("on my way"));
    assert!(cx.host().is_none());
    assert_eq!(
        cx.execute("looks", json!({})).await.unwrap().to_text(),
        "3 true false"
    );
    token.cancel();
    assert!(cx.is_cancelled() && cx.cancellation().is_cancelled());
    assert_eq!(
        cx.execute("looks", json!({})).await.unwrap_err().code(),
        ErrorCode::Cancelled
    );
}

#[tokio::test]
async fn the_work_of_a_task_does_not_keep_the_tasks_of_its_agent() {
    let session = Session::new();
    session.start("kept");
    let cancelled = session.cancelled.clone();
    let cx = detached(&session.cx, &mut Catalog::new(), &CancellationToken::new()).await;
    assert!(
        cx.service::<Tasks>().unwrap().list().is_empty(),
        "it has tasks of its own"
    );
    drop(session);
    assert_eq!(*cancelled.lock().unwrap(), ["kept"]);
}
