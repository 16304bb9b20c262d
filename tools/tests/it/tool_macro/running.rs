//! The thread that a function runs on.

use std::thread::{self, ThreadId};

use serde_json::json;
use tools::{Submission, ToolErrorKind, tool};

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
