//! The calls of sub-agents in the journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent::{Session, Turn};
use serde_json::{Value, json};
use tools::{ToolCall, ToolContext};

use crate::notebook::Notebook;
use crate::spawn::{agents, catalog, context, delegated, lead, session, spawning};
use crate::spawn_background::{background, reading, with_tasks};
use crate::workshop::{add, kind, tool};

#[tokio::test]
async fn the_journal_tells_whose_call_it_is() {
    let mut catalog = catalog();
    add(&mut catalog, "look");
    let notebook = Notebook::default();
    let calls = vec![spawning("s", json!({"name": "outer", "task": "delegate"}))];
    let driver = lead(calls, |task, number| match (task, number) {
        ("delegate", 0) => Turn::calls([spawning("d", json!({"name": "inner", "task": "look"}))]),
        ("look", 0) => Turn::calls([
            ToolCall::new("c", "look", json!({})),
            ToolCall::new("e", "gone", json!({})),
        ]),
        _ => Turn::answer("done"),
    });
    let cx = context()
        .with_journal(Arc::new(notebook.clone()))
        .with_session("monday");
    delegated(&mut session(&catalog, cx), driver).await;
    let lines = notebook.lines();
    let of = |id: &str, kind: &str| {
        let at = lines
            .iter()
            .position(|line| line.call_id.as_deref() == Some(id) && line.kind == kind)
            .unwrap();
        (at as u64 + 1, lines[at].clone())
    };
    let (outer, spawn) = of("s", "intent");
    let (inner, nested) = of("outer/d", "intent");
    let (_, look) = of("outer/inner/c", "intent");
    let (_, gone) = of("outer/inner/e", "refusal");
    assert_eq!(
        (spawn.parent, nested.parent, look.parent, gone.parent),
        (None, Some(outer), Some(inner), Some(inner))
    );
    assert!(
        [&nested, &look, &gone]
            .iter()
            .all(|line| line.session.as_deref() == Some("monday"))
    );
    let path = |line: &crate::notebook::Line| line.key.as_ref().unwrap().path.clone();
    assert_eq!(
        (path(&spawn), path(&nested), path(&look)),
        (String::new(), "0".to_owned(), "0.0".to_owned())
    );
}

/// A spawn that a crash interrupted is not repeated: the second run of a model differs from the first.
#[tokio::test]
async fn an_interrupted_sub_agent_is_not_started_again() {
    let catalog = catalog();
    let notebook = Notebook::default();
    let driver = || {
        lead(
            vec![spawning("s", json!({"name": "n", "task": "talk"}))],
            |_, _| Turn::answer("said"),
        )
    };
    let cx = || {
        context()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday")
    };
    delegated(&mut session(&catalog, cx()), driver()).await;
    notebook.forget_outcomes();
    let results = delegated(&mut session(&catalog, cx()), driver()).await;
    assert_eq!(kind(&results[0]), "outcome_unknown");
}

/// Another process has no such task. It neither starts the sub-agent again nor repeats its calls.
#[tokio::test]
async fn a_resumed_session_does_not_repeat_a_background_sub_agent() {
    let mut catalog = catalog();
    let looked = Arc::new(AtomicUsize::new(0));
    let count = looked.clone();
    let look = move |_: ToolContext, _: Value| {
        count.fetch_add(1, Ordering::SeqCst);
        async { "seen" }
    };
    catalog.register(tool("look"), look).unwrap();
    let notebook = Notebook::default();
    let calls = || {
        vec![
            background("s", "one", "look"),
            background("t", "two", "look"),
            ToolCall::new("own", "look", json!({})),
        ]
    };
    let driver = || {
        agents(move |task, number| match (task, number) {
            ("lead", 0) => Turn::calls(calls()),
            ("lead", 1) => Turn::calls([reading("r", "t1"), reading("q", "t2")]),
            ("lead", _) => Turn::answer("finished"),
            (_, 0) => {
                Turn::calls(["a", "b"].map(|id| ToolCall::new(id, "look", json!({"id": id}))))
            }
            _ => Turn::answer("done"),
        })
    };
    let cx = || {
        with_tasks(context())
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday")
    };
    let began: Session = session(&catalog, cx());
    let results = delegated(&mut began.clone(), driver()).await;
    assert!(results.iter().all(|result| !result.is_error), "{results:?}");
    let lines = notebook.lines();
    let path = |id: &str| {
        let line = lines
            .iter()
            .find(|line| line.call_id.as_deref() == Some(id) && line.kind == "intent")
            .unwrap();
        let parent = line
            .parent
            .map(|parent| lines[parent as usize - 1].call_id.clone().unwrap());
        let key = line.key.as_ref().unwrap();
        format!(
            "{}.{}.{} of {}",
            key.turn,
            key.index,
            key.path,
            parent.as_deref().unwrap_or("none")
        )
    };
    let paths = ["s", "t", "one/a", "one/b", "two/a", "two/b"].map(path);
    assert_eq!(
        paths,
        [
            "1.0. of none",
            "1.1. of none",
            "1.0.0 of s",
            "1.0.1 of s",
            "1.1.0 of t",
            "1.1.1 of t"
        ]
    );
    assert_eq!(looked.load(Ordering::SeqCst), 5);
    drop(began);

    let read = lines
        .iter()
        .position(|line| line.call_id.as_deref() == Some("q") && line.kind == "intent")
        .unwrap();
    notebook.forget_outcome_of(read as u64 + 1);
    let again = delegated(&mut session(&catalog, cx()), driver()).await;
    assert_eq!(
        looked.load(Ordering::SeqCst),
        5,
        "no call of the sub-agents is repeated"
    );
    assert_eq!(again[0].task.as_deref(), Some("t1"), "the recorded handle");
    assert_eq!(again[3], results[3], "the recorded answer");
    assert!(
        again[4].is_error && again[4].to_text().contains("you have no task"),
        "{again:?}"
    );
}
