//! The calls of one turn run in parallel. Conflicting calls take effect in the order of the turn.

use std::sync::{Arc, Mutex};

use agent::{Driver, Scripted, Selection, Session, Turn};
use serde_json::{Value, json};
use tools::context::ApprovalFuture;
use tools::{
    Approval, Approver, Catalog, Clause, Decision, Effects, Grant, Host, Tool, ToolCall,
    ToolContext,
};

/// A catalog with `edit`, which writes its path, and the numbers of its calls as they ran.
fn edits() -> (Catalog, Arc<Mutex<Vec<u64>>>) {
    let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
    let parameters = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "number": {"type": "integer"}, "text": {"type": "string"}},
        "required": ["path", "number", "text"],
    });
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = order.clone();
    let edit = move |_: ToolContext, arguments: Value| {
        let seen = seen.clone();
        async move {
            seen.lock()
                .unwrap()
                .push(arguments["number"].as_u64().unwrap());
            tokio::task::yield_now().await;
        }
    };
    let mut catalog = Catalog::new();
    catalog
        .register(
            Tool::new("edit", "Edits a file.", parameters)
                .unwrap()
                .with_effects(effects),
            edit,
        )
        .unwrap();
    (catalog, order)
}

fn call(number: usize, path: &str, text: &str) -> ToolCall {
    let arguments = json!({"path": path, "number": number, "text": text});
    ToolCall::new(number.to_string(), "edit", arguments)
}

/// Returns how many of the calls failed.
async fn run(catalog: &Catalog, cx: Host, calls: Vec<ToolCall>) -> u32 {
    let count = u32::try_from(calls.len()).unwrap();
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let driver = Driver::new(Arc::new(Scripted::new([
        Turn::calls(calls),
        Turn::answer("done"),
    ])));
    let summary = driver.run(&mut session, "edit").await.unwrap();
    assert_eq!(summary.calls, count);
    summary.failed_calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn edits_of_one_file_take_effect_in_the_order_of_the_calls() {
    let cx = Host::new().with_grant(Grant::all());
    for _ in 0..20 {
        let (catalog, order) = edits();
        // The first calls take longest to parse, so without an order the last calls would run first.
        let text = |number: usize| "x".repeat((20 - number) * 5_000);
        let calls: Vec<_> = (0..20)
            .map(|number| call(number, "a", &text(number)))
            .collect();
        assert_eq!(run(&catalog, cx.clone(), calls).await, 0);
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_that_is_refused_is_in_nobodys_way() {
    let cx = Host::new().with_grant(Grant::all());
    let (catalog, order) = edits();
    let mut calls: Vec<_> = (0..9).map(|number| call(number, "a", "")).collect();
    calls[0].name = "unknown".into();
    calls[4].arguments = json!({"path": "../a"}).into();
    assert_eq!(run(&catalog, cx, calls).await, 2);
    assert_eq!(*order.lock().unwrap(), [1, 2, 3, 5, 6, 7, 8]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_waits_for_a_person_who_is_asked_about_another_call() {
    /// Answers once the others have run.
    struct Slow(Arc<Mutex<Vec<u64>>>);
    impl Approver for Slow {
        fn approve<'a>(&'a self, _: Approval<'a>) -> ApprovalFuture<'a> {
            Box::pin(async {
                while self.0.lock().unwrap().len() < 2 {
                    tokio::task::yield_now().await;
                }
                Decision::Allow
            })
        }
    }
    let (catalog, order) = edits();
    let free: Clause = "fs:write:free".parse().unwrap();
    let cx = Host::new()
        .with_grant(Grant::new([free]))
        .with_approver(Arc::new(Slow(order.clone())));
    assert_eq!(
        run(
            &catalog,
            cx,
            vec![
                call(0, "asked", ""),
                call(1, "free", ""),
                call(2, "free", "")
            ]
        )
        .await,
        0
    );
    assert_eq!(*order.lock().unwrap(), [1, 2, 0]);
}
