//! The plan of a session.

use std::sync::Arc;

use agent::{Event, Plan, PlanItem, PlanStatus, Selection, Session, SubAgents, Turn};
use serde_json::{Value, json};
use tools::protocol::{Message, Role};
use tools::{Catalog, ErrorCode, Grant, Host, ToolCall, ToolContext};

use crate::notebook::Notebook;
use crate::workshop::{EventLog, calling, playing, results, scripted, tool};

fn session() -> Session {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    Session::new(catalog.list(), Selection::new(), Host::new())
}

fn items(items: &[(&str, PlanStatus)]) -> Vec<PlanItem> {
    let of = |(text, status): &(&str, PlanStatus)| json!({"text": text, "status": status});
    items
        .iter()
        .map(|item| serde_json::from_value(of(item)).unwrap())
        .collect()
}

fn writing(id: &str, items: Value) -> Turn {
    Turn::calls([ToolCall::new(id, "todo.write", json!({"items": items}))])
}

fn plan(session: &Session) -> Vec<PlanItem> {
    session.context().service::<Plan>().unwrap().items()
}

#[tokio::test]
async fn a_written_plan_is_read_and_told_when_it_changes() {
    let mut session = session();
    let log = EventLog::default();
    let written = json!([{"text": "look", "status": "done"}, {"text": "mend"}]);
    let read = || Turn::calls([ToolCall::new("r", "todo.read", json!({}))]);
    let turns = [
        writing("a", written.clone()),
        writing("b", written),
        read(),
        writing("c", json!([])),
        read(),
    ];
    let driver = scripted(turns.into_iter().chain([Turn::answer("done")])).with_events(log.clone());
    driver.run(&mut session, "go").await.unwrap();
    let texts: Vec<_> = results(session.messages())
        .iter()
        .map(|(_, result)| result.to_text())
        .collect();
    let counts = "2 steps: 1 done, 1 open";
    assert_eq!(texts[..2], [counts, counts]);
    assert_eq!(texts[2], format!("{counts}\n[done] look\n[open] mend"));
    assert_eq!(texts[3..], ["the plan is empty", "the plan is empty"]);
    let changes: Vec<_> = log
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::PlanChanged { items } => Some(items),
            _ => None,
        })
        .collect();
    assert_eq!(
        changes,
        [
            items(&[("look", PlanStatus::Done), ("mend", PlanStatus::Open)]),
            Vec::new()
        ]
    );
}

#[test]
fn a_continued_conversation_has_the_plan_that_was_written_through_another_call() {
    let arguments = json!({"name": "todo.write", "arguments": {"items": [{"text": "look"}]}});
    let message = Turn::calls([ToolCall::new("a", "tools.call", arguments)]).message;
    let session = session().with_messages(vec![Message::text(Role::User, "go"), message]);
    assert_eq!(plan(&session), items(&[("look", PlanStatus::Open)]));
}

#[tokio::test]
async fn a_continued_conversation_has_its_last_plan() {
    let mut first = session();
    let turns = [
        writing("a", json!([{"text": "old"}])),
        writing("b", json!([{"text": "new", "status": "active"}])),
        writing("c", json!([{"text": ""}])),
        Turn::answer("done"),
    ];
    scripted(turns).run(&mut first, "go").await.unwrap();
    let last = items(&[("new", PlanStatus::Active)]);
    assert_eq!(plan(&first), last);

    let mut other = session().with_messages(first.messages().to_vec());
    assert_eq!(plan(&other), last);
    other.clear();
    assert_eq!(plan(&other), []);
}

/// The journal returns the result of a call that ended before the crash, without running it.
#[tokio::test]
async fn a_resumed_session_has_the_plan_of_a_call_that_is_replayed() {
    let notebook = Notebook::default();
    let open = || {
        let mut catalog = Catalog::new();
        agent::tool::register(&mut catalog).unwrap();
        let cx = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday");
        Session::new(catalog.list(), Selection::new(), cx)
    };
    let turns = || {
        [
            writing("a", json!([{"text": "look"}])),
            Turn::answer("done"),
        ]
    };
    let driver = || scripted(turns()).with_checkpoints(true);
    let token = tools::CancellationToken::new();
    let stop = token.clone();
    // Stops after the result, before the next checkpoint.
    let ends = move |event: Event| {
        if matches!(event, Event::Result { .. }) {
            stop.cancel();
        }
    };
    driver()
        .with_cancellation(token)
        .with_events(ends)
        .run(&mut open(), "go")
        .await
        .unwrap();
    let mut resumed = open();
    let run = resumed.stored_run().await.unwrap().unwrap();
    driver().resume(&mut resumed, run).await.unwrap();
    assert_eq!(
        notebook
            .lines()
            .iter()
            .filter(|line| line.kind == "intent")
            .count(),
        1
    );
    assert_eq!(plan(&resumed), items(&[("look", PlanStatus::Open)]));
}

#[tokio::test]
async fn a_sub_agent_has_a_plan_of_its_own() {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let cx = Host::new()
        .with_grant(Grant::all())
        .with_service(SubAgents::default());
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let log = EventLog::default();
    let driver = playing(|request| {
        let is_lead = request
            .messages
            .iter()
            .any(|message| message.to_text() == "lead");
        let turns = request
            .messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count();
        let turn = match (is_lead, turns) {
            (true, 0) => writing("a", json!([{"text": "delegate"}])),
            (true, 1) => Turn::calls([ToolCall::new(
                "s",
                "agent.spawn",
                json!({"name": "n", "task": "t"}),
            )]),
            (false, 0) => writing("a", json!([{"text": "work"}])),
            _ => Turn::answer("done"),
        };
        Box::pin(async { Ok(turn) })
    });
    driver
        .with_events(log.clone())
        .run(&mut session, "lead")
        .await
        .unwrap();
    assert_eq!(plan(&session), items(&[("delegate", PlanStatus::Open)]));
    let of_agent = log.events().into_iter().any(|event| match event {
        Event::SubAgent { event, .. } => matches!(*event, Event::PlanChanged { .. }),
        _ => false,
    });
    assert!(of_agent);
}

#[tokio::test]
async fn a_session_within_a_call_leaves_the_plan_of_its_agent() {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let delegate = async |cx: ToolContext, _: Value| {
        let session = Session::new(Vec::new(), Selection::new(), cx).with_messages(Vec::new());
        plan(&session).len().to_string()
    };
    catalog.register(tool("delegate"), delegate).unwrap();
    let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
    let turns = [
        writing("a", json!([{"text": "look"}])),
        calling(&["delegate"]),
        Turn::answer("done"),
    ];
    scripted(turns).run(&mut session, "go").await.unwrap();
    assert_eq!(results(session.messages())[1].1.to_text(), "0");
    assert_eq!(plan(&session), items(&[("look", PlanStatus::Open)]));
}

#[tokio::test]
async fn an_unclear_plan_is_refused() {
    let session = session();
    for items in [
        json!([{"text": ""}]),
        json!([{"text": "a", "status": "later"}]),
        json!([{"text": "a", "owner": "b"}]),
        json!(vec![json!({"text": "a"}); 51]),
        json!([{"text": "x".repeat(301)}]),
    ] {
        let error = session
            .execute("todo.write", json!({"items": items}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArguments, "{items}");
    }
    assert!(plan(&session).is_empty());
}

#[test]
fn a_conversation_without_a_plan_has_none() {
    let session = session().with_messages(vec![Message::text(Role::User, "hello")]);
    assert!(plan(&session).is_empty());
}
