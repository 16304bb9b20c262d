//! The calls of sub-agents in the journal.

use std::sync::Arc;

use agent::Turn;
use serde_json::json;
use tools::ToolCall;

use crate::notebook::Notebook;
use crate::spawn::{catalog, context, delegated, lead, session, spawning};
use crate::workshop::{add, kind};

#[tokio::test]
async fn the_journal_tells_whose_call_it_is() {
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let notebook = Notebook::default();
    let calls = vec![spawning("s", json!({"name": "outer", "task": "delegate"}))];
    let driver = lead(calls, |task, number| match (task, number) {
        ("delegate", 0) => Turn::calls([spawning("d", json!({"name": "inner", "task": "look"}))]),
        ("look", 0) => Turn::calls([ToolCall::new("c", "look", json!({})), ToolCall::new("e", "gone", json!({}))]),
        _ => Turn::answer("done"),
    });
    let cx = context().with_journal(Arc::new(notebook.clone())).with_session("monday");
    delegated(&mut session(&catalog, cx), driver).await;
    let lines = notebook.lines();
    let of = |id: &str, kind: &str| {
        let at = lines.iter().position(|line| line.call_id.as_deref() == Some(id) && line.kind == kind).unwrap();
        (at as u64 + 1, lines[at].clone())
    };
    let (outer, spawn) = of("s", "intent");
    let (inner, nested) = of("outer/d", "intent");
    let (_, look) = of("outer/inner/c", "intent");
    let (_, gone) = of("outer/inner/e", "refusal");
    assert_eq!((spawn.parent, nested.parent, look.parent, gone.parent), (None, Some(outer), Some(inner), Some(inner)));
    assert!([&nested, &look, &gone].iter().all(|line| line.session.as_deref() == Some("monday")));
    let path = |line: &crate::notebook::Line| line.key.as_ref().unwrap().path.clone();
    assert_eq!((path(&spawn), path(&nested), path(&look)), (String::new(), "0".to_owned(), "0.0".to_owned()));
}

/// A spawn that a crash interrupted is not repeated: the second run of a model differs from the first.
#[tokio::test]
async fn an_interrupted_sub_agent_is_not_started_again() {
    let catalog = catalog();
    let notebook = Notebook::default();
    let driver = || lead(vec![spawning("s", json!({"name": "n", "task": "talk"}))], |_, _| Turn::answer("said"));
    let cx = || context().with_journal(Arc::new(notebook.clone())).with_session("monday");
    delegated(&mut session(&catalog, cx()), driver()).await;
    notebook.forget_outcomes();
    let results = delegated(&mut session(&catalog, cx()), driver()).await;
    assert_eq!(kind(&results[0]), "outcome_unknown");
}
