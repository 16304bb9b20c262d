//! The thread that a function runs on.

use std::thread::{self, ThreadId};
use std::time::Duration;

use serde_json::json;
use tools::lint::{Lint, LintRule};
use tools::{Catalog, Host, Submission, ToolErrorKind, tool};

use super::called;

fn place() -> String {
    format!("{:?}", thread::current().id())
}

/// Is short.
#[tool(pure)]
fn in_place() -> String {
    place()
}

/// Computes for a long time.
#[tool(pure, blocking, max_output = 1_000, timeout = "500ms")]
fn computing() -> String {
    place()
}

/// Blocks for longer than a plain function may.
#[tool(pure, example({}))]
fn dozing() -> String {
    thread::sleep(Duration::from_millis(30));
    place()
}

/// Reads, and may wait for a disk.
#[tool(reads = "fs:a")]
fn reading() -> String {
    place()
}

/// Waits without blocking its thread.
#[tool(reads = "fs:a")]
async fn waiting() -> String {
    tokio::task::yield_now().await;
    place()
}

/// Breaks.
#[tool(open_world)]
fn breaking(
    /// How.
    how: String,
) {
    panic!("broken by {how}");
}

async fn runs_here(submission: &'static Submission) -> bool {
    let here: ThreadId = thread::current().id();
    called(submission, json!({})).await.unwrap().to_text() == format!("{here:?}")
}

#[tokio::test]
async fn pure_and_async_functions_run_in_place() {
    assert!(runs_here(&IN_PLACE_TOOL).await);
    assert!(runs_here(&WAITING_TOOL).await);
}

#[tokio::test]
async fn a_plain_function_that_touches_something_runs_on_the_pool() {
    assert!(!runs_here(&READING_TOOL).await);
    assert!(!runs_here(&COMPUTING_TOOL).await);
}

#[tokio::test]
async fn a_panic_on_the_pool_is_that_of_the_tool() {
    let error = called(&BREAKING_TOOL, json!({"how": "hand"}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Panicked { message, .. } if message.contains("broken by hand")),
        "{error}"
    );
}

#[tokio::test]
async fn a_short_function_that_blocks_runs_elsewhere_from_its_second_call_on() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&DOZING_TOOL]).unwrap();
    let cx = Host::new();
    let mut places = Vec::new();
    for _ in 0..3 {
        let result = catalog.execute(&cx, "dozing", json!({})).await;
        places.push(result.unwrap().to_text());
    }
    let is_here: Vec<_> = places.iter().map(|text| *text == place()).collect();
    assert_eq!(is_here, [true, false, false]);
}

#[tokio::test]
async fn a_function_that_blocks_is_a_fault_once_its_example_has_run() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&DOZING_TOOL, &IN_PLACE_TOOL]).unwrap();
    let faults = Lint::default().check(&catalog).await;
    let holding = faults.iter().filter(|fault| fault.rule == LintRule::Limits);
    assert_eq!(
        holding.map(|fault| &*fault.tool).collect::<Vec<_>>(),
        ["dozing"]
    );
}
