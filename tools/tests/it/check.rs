//! The check of a call against the services of the host, before it is authorised.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tools::call::{Resolve, execute};
use tools::context::ApprovalFuture;
use tools::{
    Approval, Approver, Catalog, Decision, Entry, ErrorCode, Grant, Host, ToolContext, ToolError,
    tool,
};

/// The boxes of the host.
struct Boxes(&'static [&'static str]);

/// Puts a text into a box.
#[tool(writes = "box:{name}", needs = Boxes, check = known)]
async fn put(
    _cx: ToolContext,
    /// The box.
    name: String,
) -> String {
    format!("into {name}")
}

fn known(cx: ToolContext, name: String) -> Result<(), ToolError> {
    assert_ne!(name, "panic");
    if cx.need::<Boxes>()?.0.contains(&&*name) {
        Ok(())
    } else {
        Err(ToolError::execution_failed(format!(
            "there is no box {name:?}"
        )))
    }
}

/// Allows each call, and counts them.
#[derive(Clone, Debug, Default)]
struct Counter(Arc<AtomicUsize>);

impl Approver for Counter {
    fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Decision::Allow })
    }
}

/// Resolves one tool.
struct Only(Arc<Entry>);

impl Resolve for Only {
    fn resolve(&self, _: &str) -> Result<Arc<Entry>, ToolError> {
        Ok(self.0.clone())
    }
}

fn put_entry() -> Arc<Entry> {
    let mut catalog = Catalog::new();
    catalog.submit(&[&PUT_TOOL]).unwrap();
    catalog.get("put").unwrap()
}

/// Calls the tool. Returns the outcome, and the number of questions.
async fn call(entry: Arc<Entry>, cx: Host, arguments: Value) -> (Result<String, ErrorCode>, usize) {
    let counter = Counter::default();
    let cx = cx
        .with_service(Boxes(&["a"]))
        .with_approver(Arc::new(counter.clone()));
    let outcome = execute(Arc::new(Only(entry)), &cx, "put", arguments).await;
    (
        outcome
            .map(|result| result.to_text())
            .map_err(|error| error.code()),
        counter.0.load(Ordering::Relaxed),
    )
}

#[tokio::test]
async fn a_call_that_cannot_succeed_fails_before_anybody_is_asked() {
    let failed = |code| (Err(code), 0);
    for (grant, name, expected) in [
        (Grant::none(), "a", (Ok("into a".to_owned()), 1)),
        (Grant::none(), "b", failed(ErrorCode::ExecutionFailed)),
        (Grant::none(), "panic", failed(ErrorCode::Panicked)),
        (Grant::all(), "b", failed(ErrorCode::ExecutionFailed)),
    ] {
        let cx = Host::new().with_grant(grant);
        assert_eq!(
            call(put_entry(), cx, json!({"name": name})).await,
            expected,
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_default_argument_is_checked_too() {
    for (default, expected) in [
        ("a", (Ok("into a".to_owned()), 1)),
        ("b", (Err(ErrorCode::ExecutionFailed), 0)),
    ] {
        let entry = put_entry().with_default("name", json!(default)).unwrap();
        assert_eq!(call(entry, Host::new(), json!({})).await, expected);
    }
}
