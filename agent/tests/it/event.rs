//! What a run tells, and in which order.

use std::sync::Arc;
use std::time::Duration;

use crate::workshop::{Ear, breaking, calling, catalog, misbehaving, scripted, session, tool};
use agent::{Event, EventSink, Outcome, Session, Stop, Turn};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tools::protocol::Part;
use tools::{CancellationToken, Catalog, ErrorCode, Progress, Tool, ToolCall, ToolContext};

/// One word for each event.
fn words(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| match event {
        Event::Text { text } => format!("text {text}"),
        Event::CallStarted { id, .. } => format!("start {id}"),
        Event::Progress { id, progress, .. } => {
            format!("progress {id} {}", progress.message.clone().unwrap_or_default())
        }
        Event::Result { id, .. } => format!("result {id}"),
        Event::Done(_) => "done".to_owned(),
        other => panic!("{other:?}"),
    };
    events.iter().map(word).collect()
}

/// Returns the events of a run of these turns.
async fn heard(mut session: Session, turns: impl IntoIterator<Item = Turn>) -> Vec<Event> {
    let ear = Ear::default();
    scripted(turns).with_events(ear.clone()).run(&mut session, "go").await.unwrap();
    ear.heard()
}

#[tokio::test]
async fn a_run_is_told_from_its_first_text_to_its_end() {
    let mut turn = calling(&["x"]);
    turn.message.parts.insert(0, Part::Content("let me see".into()));
    let heard = heard(session(&catalog(["x"])), [turn, Turn::answer("done")]).await;
    assert_eq!(words(&heard), ["text let me see", "start a", "result a", "text done", "done"]);
}

#[tokio::test]
async fn calls_start_in_their_order_before_any_of_them_ends() {
    let words = words(&heard(session(&catalog(["x"])), [calling(&["x", "missing", "x"]), Turn::answer("ok")]).await);
    assert_eq!(words[..3], ["start a", "start b", "start c"]);
    let mut ends = words[3..6].to_vec();
    ends.sort();
    assert_eq!(ends, ["result a", "result b", "result c"]);
}

#[tokio::test]
async fn the_result_of_a_call_that_failed_has_its_code() {
    let mut cut_off = calling(&["fine"]);
    cut_off.stop = Stop::Length;
    let turns = [calling(&["fine", "missing", "panics"]), cut_off, Turn::answer("ok")];
    let codes = |event: Event| match event {
        Event::Result { name, result, error, .. } => Some((name, result.is_error, error)),
        _ => None,
    };
    let mut told: Vec<_> = heard(session(&misbehaving()), turns).await.into_iter().filter_map(codes).collect();
    told[..3].sort_by(|one, other| one.0.cmp(&other.0));
    let failed = |name: &str, code| (name.to_owned(), true, Some(code));
    let expected = [failed("missing", ErrorCode::NotFound), failed("panics", ErrorCode::Panicked)];
    assert_eq!((&told[0], &told[1..3]), (&("fine".to_owned(), false, None), &expected[..]));
    assert_eq!(told[3..], [failed("fine", ErrorCode::Refused)]);
}

#[tokio::test]
async fn progress_comes_between_start_and_result_and_names_the_tool_that_made_it() {
    let mut catalog = Catalog::new();
    let outer = async |cx: ToolContext, _: Value| {
        cx.report(Progress::message("outer"));
        cx.execute("inner", json!({})).await.map(|result| result.to_text())
    };
    let inner = async |cx: ToolContext, _: Value| {
        cx.report(Progress::message("inner"));
        "done".to_owned()
    };
    catalog.register(tool("outer"), outer).unwrap();
    catalog.register(tool("inner"), inner).unwrap();
    let heard = heard(session(&catalog), [calling(&["outer"]), Turn::answer("ok")]).await;
    assert_eq!(words(&heard)[..4], ["start a", "progress a outer", "progress a inner", "result a"]);
    assert!(matches!(&heard[2], Event::Progress { name, .. } if name == "inner"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_waits_for_progress_that_is_being_told() {
    let told = Arc::new(Notify::new());
    let hears_first = told.clone();
    let mut catalog = Catalog::new();
    let leaks = move |cx: ToolContext, _: Value| {
        let told = told.clone();
        async move {
            std::thread::spawn(move || cx.report(Progress::message("late")));
            told.notified().await;
            "done".to_owned()
        }
    };
    catalog.register(tool("leaks"), leaks).unwrap();
    let ear = Ear::default();
    let hears = ear.clone();
    let sluggish = move |event: Event| {
        if matches!(event, Event::Progress { .. }) {
            hears_first.notify_one();
            std::thread::sleep(Duration::from_millis(50));
        }
        hears.send(event);
    };
    let driver = scripted([calling(&["leaks"]), Turn::answer("ok")]).with_events(sluggish);
    driver.run(&mut session(&catalog), "go").await.unwrap();
    assert_eq!(words(&ear.heard()), ["start a", "progress a late", "result a", "text ok", "done"]);
}

#[tokio::test]
async fn progress_after_the_result_is_not_told() {
    let (leak, mut leaked) = tokio::sync::mpsc::unbounded_channel();
    let mut catalog = Catalog::new();
    let leaks = move |cx: ToolContext, _: Value| {
        let leak = leak.clone();
        // Whatever token it puts in: nothing of a call is told after its result.
        async move { leak.send(cx.with_cancellation(CancellationToken::new())).map_err(|_| "nobody there") }
    };
    catalog.register(tool("leaks"), leaks).unwrap();
    let ear = Ear::default();
    let driver = scripted([calling(&["leaks"]), Turn::answer("ok")]).with_events(ear.clone());
    driver.run(&mut session(&catalog), "go").await.unwrap();
    leaked.recv().await.unwrap().report(Progress::message("late"));
    assert_eq!(words(&ear.heard()), ["start a", "result a", "text ok", "done"]);
}

#[tokio::test]
async fn a_start_shows_what_the_call_would_touch() {
    let mut catalog = Catalog::new();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let effects = serde_json::from_value(json!({"reads": ["fs:{path}"]})).unwrap();
    let read = Tool::new("fs.read", "Reads.", schema).unwrap().with_effects(effects);
    catalog.register(read, async |_: ToolContext, _: Value| String::new()).unwrap();
    let call = |id: &str, arguments| ToolCall::new(id, "fs.read", arguments);
    let turn = Turn::calls([call("a", json!({"path": "src/../x"})), call("b", json!({}))]);
    let heard = heard(session(&catalog), [turn, Turn::answer("ok")]).await;
    let targets = |event: &Event| match event {
        Event::CallStarted { targets, .. } => Some(targets.iter().map(ToString::to_string).collect::<Vec<_>>()),
        _ => None,
    };
    let targets: Vec<_> = heard.iter().filter_map(targets).collect();
    assert_eq!(targets, [vec!["fs:read:x".to_owned()], vec![]]);
}

#[tokio::test]
async fn a_failed_run_is_told_to_its_end_too() {
    let ear = Ear::default();
    let driver = scripted([calling(&["breaks"])]).with_events(ear.clone());
    driver.run(&mut breaking(), "go").await.unwrap_err();
    let Some(Event::Done(summary)) = ear.heard().pop() else { panic!() };
    assert!(matches!(summary.outcome, Outcome::Failed { message } if message.contains("the wheel came off")));
    assert_eq!(words(&ear.heard()), ["start a", "result a", "done"]);
}

#[tokio::test]
async fn events_are_json_objects_with_a_type() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let driver = scripted([calling(&["x"]), Turn::answer("ok")]).with_events(move |event| sender.send(event).unwrap());
    driver.run(&mut session(&catalog(["x"])), "go").await.unwrap();
    drop(driver);
    let mut read = Vec::new();
    while let Some(event) = receiver.recv().await {
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(serde_json::from_value::<Event>(json.clone()).unwrap(), event);
        read.push(json);
    }
    assert_eq!(read[0], json!({"type": "call_started", "id": "a", "name": "x", "arguments": {}}));
    assert_eq!(read[1]["type"], "result");
    assert_eq!(read[1]["result"]["content"], json!([{"type": "text", "text": "x"}]));
    let outcome = json!({"kind": "answer", "text": "ok", "stop": "answer"});
    assert_eq!(read[3], json!({"type": "done", "outcome": outcome, "steps": 2, "calls": 1, "failed_calls": 0}));
}
