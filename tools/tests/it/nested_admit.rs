//! Admission of nested calls: they wait for other calls only if that cannot deadlock.

use std::sync::Arc;
use std::time::Duration;

use crate::sample::{echoing, holding, pure, unlimited as cx};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tools::{
    Admission, Catalog, ErrorCode, Limits, SharedCatalog, Tool, ToolContext, ToolError, ToolResult,
};

const STEP: Duration = Duration::from_millis(100);

fn tool(name: &str, effects: Value) -> Tool {
    pure(name).with_effects(serde_json::from_value(effects).unwrap())
}

fn file(name: &str, effects: Value) -> Tool {
    let parameters =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    Tool::new(name, "Works on a file.", parameters)
        .unwrap()
        .with_effects(serde_json::from_value(effects).unwrap())
}

/// Runs for one [`STEP`].
async fn step(_: ToolContext, _: Value) {
    sleep(STEP).await;
}

/// Waits one [`STEP`], then calls `write` with its arguments.
async fn write(cx: ToolContext, arguments: Value) -> Result<ToolResult, ToolError> {
    sleep(STEP).await;
    cx.execute("write", arguments).await
}

fn catalog() -> Catalog {
    holding(file("write", json!({"writes": ["fs:{path}"]})), step)
}

/// Asserts that one of the two calls is refused. The runtime decides which.
fn one_is_refused(a: Result<ToolResult, ToolError>, b: Result<ToolResult, ToolError>) {
    let (refused, other) = if a.is_err() { (a, b) } else { (b, a) };
    assert_eq!(refused.unwrap_err().code(), ErrorCode::Overloaded);
    other.unwrap();
}

fn path(path: &str) -> Value {
    json!({"path": path})
}

#[tokio::test(start_paused = true)]
async fn two_calls_that_each_hold_a_key_of_the_other_do_not_deadlock() {
    let mut catalog = catalog();
    catalog
        .register(tool("has_a", json!({"writes": ["fs:a"]})), write)
        .unwrap();
    catalog
        .register(tool("has_b", json!({"writes": ["fs:b"]})), write)
        .unwrap();
    let start = Instant::now();
    let cx = cx();
    let (a, b) = tokio::join!(
        catalog.execute(&cx, "has_a", path("b")),
        catalog.execute(&cx, "has_b", path("a"))
    );
    // One fails at once, which releases its keys.
    one_is_refused(a, b);
    assert_eq!(start.elapsed().as_millis(), 2 * STEP.as_millis());
}

#[tokio::test(start_paused = true)]
async fn a_call_inside_of_its_callers_keys_runs_and_its_siblings_wait_for_it() {
    let mut catalog = catalog();
    let both = async |cx: ToolContext, arguments: Value| {
        let (a, b) = tokio::join!(
            cx.execute("write", arguments.clone()),
            cx.execute("write", arguments)
        );
        a.and(b)
    };
    catalog
        .register(tool("both", json!({"writes": ["fs:a"]})), both)
        .unwrap();
    let (start, cx) = (Instant::now(), cx());
    // Another call is queued for the same key; nested calls do not queue behind it.
    let (inside, outside) = tokio::join!(
        catalog.execute(&cx, "both", path("a/b")),
        catalog.execute(&cx, "write", path("a/b"))
    );
    inside.and(outside).unwrap();
    assert_eq!(start.elapsed().as_millis(), 3 * STEP.as_millis());
}

#[tokio::test(start_paused = true)]
async fn to_have_read_is_not_to_have_written() {
    let mut catalog = catalog();
    catalog
        .register(file("reads", json!({"reads": ["fs:{path}"]})), write)
        .unwrap();
    let (start, cx) = (Instant::now(), cx());
    let (a, b) = tokio::join!(
        catalog.execute(&cx, "reads", path("a")),
        catalog.execute(&cx, "reads", path("a"))
    );
    // The first to ask cannot have the path that the other one reads. It fails, and the other one continues.
    one_is_refused(a, b);
    assert_eq!(start.elapsed().as_millis(), 2 * STEP.as_millis());
    catalog.execute(&cx, "reads", path("a")).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_undeclared_effects_holds_nothing_during_nested_calls() {
    let mut catalog = catalog();
    let call = |name: &'static str| {
        async move |cx: ToolContext, arguments: Value| {
            sleep(STEP).await;
            match arguments["path"].as_str() {
                Some(_) => cx.execute("write", arguments).await,
                None => cx.execute(name, path("a")).await,
            }
        }
    };
    catalog
        .register(tool("one", json!(null)), call("two"))
        .unwrap();
    catalog
        .register(tool("two", json!(null)), call("one"))
        .unwrap();
    let cx = cx();
    let (a, b, c) = tokio::join!(
        catalog.execute(&cx, "one", json!({})),
        catalog.execute(&cx, "two", json!({})),
        catalog.execute(&cx, "write", path("a")),
    );
    a.and(b).and(c).unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_last_place_is_enough_for_a_call_and_all_that_it_makes() {
    let admission = Arc::new(Admission::default().with_max_concurrency(1));
    let mut catalog = Catalog::new().with_admission(admission.clone());
    catalog
        .register(file("write", json!({"writes": ["fs:{path}"]})), step)
        .unwrap();
    catalog.register(pure("composite"), write).unwrap();
    let (start, cx) = (Instant::now(), cx());
    // The second call is queued before the nested call for the path, and waits for the permit of the enclosing call.
    let (a, b) = tokio::join!(
        catalog.execute(&cx, "composite", path("a")),
        catalog.execute(&cx, "write", path("a"))
    );
    a.and(b).unwrap();
    assert_eq!(start.elapsed().as_millis(), 3 * STEP.as_millis());
    assert_eq!((admission.running(), admission.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_limited_tool_that_calls_itself_is_refused_instead_of_waiting_for_itself() {
    let again = async |cx: ToolContext, arguments: Value| cx.execute("again", arguments).await;
    let limits = Limits {
        max_concurrency: Some(1),
        ..Limits::default()
    };
    let catalog = holding(pure("again").with_limits(limits), again);
    let start = Instant::now();
    assert_eq!(
        catalog
            .execute(&cx(), "again", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Overloaded
    );
    assert_eq!(start.elapsed().as_millis(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_composite_that_has_nothing_waits_for_a_limited_tool() {
    let limits = Limits {
        max_concurrency: Some(2),
        ..Limits::default()
    };
    let mut catalog = holding(pure("limited").with_limits(limits), step);
    let five = async |cx: ToolContext, _: Value| {
        let one = async || cx.execute("limited", json!({})).await;
        let (a, b, c, d, e) = tokio::join!(one(), one(), one(), one(), one());
        a.and(b).and(c).and(d).and(e)
    };
    catalog.register(pure("five"), five).unwrap();
    let start = Instant::now();
    catalog.execute(&cx(), "five", json!({})).await.unwrap();
    assert_eq!(start.elapsed().as_millis(), 3 * STEP.as_millis());
}

#[tokio::test(start_paused = true)]
async fn a_circle_through_two_catalogs_is_none() {
    let catalogs = [SharedCatalog::new(), SharedCatalog::new()];
    for (index, catalog) in catalogs.iter().enumerate() {
        catalog
            .register(file("write", json!({"writes": ["fs:{path}"]})), step)
            .unwrap();
        // The tool is the same in both, so that it is in scope, and its calls go through the admission of either.
        let other = catalogs[1 - index].clone();
        let elsewhere = move |cx: ToolContext, arguments: Value| {
            let other = other.clone();
            async move {
                sleep(STEP).await;
                other.execute(&cx, "write", arguments).await
            }
        };
        catalog
            .register(tool("elsewhere", json!({"writes": ["fs:a"]})), elsewhere)
            .unwrap();
    }
    let (start, cx) = (Instant::now(), cx());
    let (a, b) = tokio::join!(
        catalogs[0].execute(&cx, "elsewhere", path("a")),
        catalogs[1].execute(&cx, "elsewhere", path("a")),
    );
    one_is_refused(a, b);
    assert_eq!(start.elapsed().as_millis(), 2 * STEP.as_millis());
}

#[tokio::test]
async fn a_pure_call_inside_of_one_that_writes_takes_nothing() {
    let mut catalog = echoing([pure("echo")]);
    let outer = async |cx: ToolContext, arguments: Value| cx.execute("echo", arguments).await;
    catalog
        .register(tool("outer", json!({"writes": ["fs:a"]})), outer)
        .unwrap();
    catalog.execute(&cx(), "outer", json!({})).await.unwrap();
    assert_eq!(
        (catalog.admission().running(), catalog.admission().waiting()),
        (0, 0)
    );
}
