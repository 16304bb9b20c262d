//! The events of a run and their order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::workshop::{
    EventLog, breaking, calling, catalog, misbehaving, playing, scripted, session, tool,
};
use agent::{
    Driver, Event, EventSink, FailureKind, Outcome, ProviderError, RequestRetry, RetryCause,
    RunOptions, Selection, Session, StopReason, Turn,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tools::context::ApprovalFuture;
use tools::protocol::Part;
use tools::{
    Approval, Approver, CancellationToken, Catalog, Decision, Effects, ErrorCode, Host, Json,
    Progress, Tool, ToolCall, ToolContext,
};

/// Returns a short form of each event.
fn words(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| match event {
        Event::Text { text } => format!("text {text}"),
        Event::CallStarted { id, .. } => format!("start {id}"),
        Event::Progress { id, progress, .. } => {
            format!(
                "progress {id} {}",
                progress.message.clone().unwrap_or_default()
            )
        }
        Event::Result { id, .. } => format!("result {id}"),
        Event::Done(_) => "done".to_owned(),
        other => panic!("{other:?}"),
    };
    events.iter().map(word).collect()
}

/// Returns the events of a run of these turns.
async fn events_of(mut session: Session, turns: impl IntoIterator<Item = Turn>) -> Vec<Event> {
    let log = EventLog::default();
    scripted(turns)
        .with_events(log.clone())
        .run(&mut session, "go")
        .await
        .unwrap();
    log.events()
}

#[tokio::test]
async fn a_run_sends_events_from_its_first_text_to_its_end() {
    let mut turn = calling(&["x"]);
    turn.message
        .parts
        .insert(0, Part::Content("let me see".into()));
    let events = events_of(session(&catalog(["x"])), [turn, Turn::answer("done")]).await;
    assert_eq!(
        words(&events),
        [
            "text let me see",
            "start a",
            "result a",
            "text done",
            "done"
        ]
    );
}

#[tokio::test]
async fn the_retries_of_a_request_precede_its_text() {
    let log = EventLog::default();
    let driver = playing(|request| {
        let error = ProviderError::Status {
            provider: "scripted".to_owned(),
            status: 503,
            kind: FailureKind::Overloaded,
            message: "busy".to_owned(),
            retry_after: None,
        };
        request
            .retry_sink
            .iter()
            .for_each(|sink| sink(RequestRetry::new(1, 3, 250, &error)));
        Box::pin(async { Ok(Turn::answer("done")) })
    });
    driver
        .with_events(log.clone())
        .run(&mut session(&catalog([])), "go")
        .await
        .unwrap();
    let events = log.events();
    let Event::RequestRetried(retry) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!((retry.retry, retry.max_retries, retry.wait_ms), (1, 3, 250));
    assert_eq!((retry.cause, retry.status), (RetryCause::Status, Some(503)));
    assert_eq!(words(&events[1..]), ["text done", "done"]);
}

/// The person takes a long time over the call and over its nested call.
#[tokio::test]
async fn the_duration_of_a_call_leaves_out_the_waits_for_a_person() {
    const WAIT: Duration = Duration::from_millis(200);
    struct Slow;
    impl Approver for Slow {
        fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
            Box::pin(async {
                tokio::time::sleep(WAIT).await;
                Decision::Allow
            })
        }
    }
    let mut catalog = Catalog::new();
    let outer = async |cx: ToolContext, _: Value| {
        cx.execute("inner", json!({}))
            .await
            .map(|result| result.to_text())
    };
    catalog
        .register(tool("outer").with_effects(Effects::Undeclared), outer)
        .unwrap();
    let inner = async |_: ToolContext, _: Value| "done".to_owned();
    catalog
        .register(tool("inner").with_effects(Effects::Undeclared), inner)
        .unwrap();
    let cx = Host::new().with_approver(Arc::new(Slow));
    let session = Session::new(catalog.list(), Selection::new(), cx);
    let start = Instant::now();
    let events = events_of(session, [calling(&["outer"]), Turn::answer("ok")]).await;
    let whole = start.elapsed();
    let Event::Result {
        duration_ms,
        result,
        ..
    } = &events[1]
    else {
        panic!("{events:?}")
    };
    assert!(!result.is_error && whole >= 2 * WAIT, "{result:?}");
    assert!(
        Duration::from_millis(*duration_ms) <= whole - 2 * WAIT,
        "{duration_ms} ms of {whole:?}"
    );
}

#[tokio::test]
async fn calls_start_in_their_order_before_any_of_them_ends() {
    let words = words(
        &events_of(
            session(&catalog(["x"])),
            [calling(&["x", "missing", "x"]), Turn::answer("ok")],
        )
        .await,
    );
    assert_eq!(words[..3], ["start a", "start b", "start c"]);
    let mut ends = words[3..6].to_vec();
    ends.sort();
    assert_eq!(ends, ["result a", "result b", "result c"]);
}

#[tokio::test]
async fn the_result_of_a_call_that_failed_has_its_code() {
    let mut cut_off = calling(&["fine"]);
    cut_off.stop = StopReason::Length;
    let turns = [
        calling(&["fine", "missing", "panics"]),
        cut_off,
        Turn::answer("ok"),
    ];
    let codes = |event: Event| match event {
        Event::Result {
            name,
            result,
            error,
            ..
        } => Some((name, result.is_error, error)),
        _ => None,
    };
    let mut sent: Vec<_> = events_of(session(&misbehaving()), turns)
        .await
        .into_iter()
        .filter_map(codes)
        .collect();
    sent[..3].sort_by(|one, other| one.0.cmp(&other.0));
    let failed = |name: &str, code| (name.to_owned(), true, Some(code));
    let expected = [
        failed("missing", ErrorCode::NotFound),
        failed("panics", ErrorCode::Panicked),
    ];
    assert_eq!(
        (&sent[0], &sent[1..3]),
        (&("fine".to_owned(), false, None), &expected[..])
    );
    assert_eq!(sent[3..], [failed("fine", ErrorCode::Refused)]);
}

#[tokio::test]
async fn progress_comes_between_start_and_result_and_names_the_tool_that_made_it() {
    let mut catalog = Catalog::new();
    let outer = async |cx: ToolContext, _: Value| {
        cx.report(Progress::message("outer"));
        cx.execute("inner", json!({}))
            .await
            .map(|result| result.to_text())
    };
    let inner = async |cx: ToolContext, _: Value| {
        cx.report(Progress::message("inner"));
        "done".to_owned()
    };
    catalog.register(tool("outer"), outer).unwrap();
    catalog.register(tool("inner"), inner).unwrap();
    let events = events_of(session(&catalog), [calling(&["outer"]), Turn::answer("ok")]).await;
    assert_eq!(
        words(&events)[..4],
        [
            "start a",
            "progress a outer",
            "progress a inner",
            "result a"
        ]
    );
    assert!(matches!(&events[2], Event::Progress { name, .. } if name == "inner"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_waits_for_progress_that_is_being_sent() {
    let sent = Arc::new(Notify::new());
    let on_first = sent.clone();
    let mut catalog = Catalog::new();
    let leaks = move |cx: ToolContext, _: Value| {
        let sent = sent.clone();
        async move {
            std::thread::spawn(move || cx.report(Progress::message("late")));
            sent.notified().await;
            "done".to_owned()
        }
    };
    catalog.register(tool("leaks"), leaks).unwrap();
    let log = EventLog::default();
    let sender = log.clone();
    let sluggish = move |event: Event| {
        if matches!(event, Event::Progress { .. }) {
            on_first.notify_one();
            std::thread::sleep(Duration::from_millis(50));
        }
        sender.send(event);
    };
    let driver = scripted([calling(&["leaks"]), Turn::answer("ok")]).with_events(sluggish);
    driver.run(&mut session(&catalog), "go").await.unwrap();
    assert_eq!(
        words(&log.events()),
        ["start a", "progress a late", "result a", "text ok", "done"]
    );
}

#[tokio::test]
async fn progress_after_the_result_is_not_sent() {
    let (leak, mut leaked) = tokio::sync::mpsc::unbounded_channel();
    let mut catalog = Catalog::new();
    let leaks = move |cx: ToolContext, _: Value| {
        let leak = leak.clone();
        // A new token does not reopen the reporter of the call.
        async move {
            leak.send(cx.with_cancellation(CancellationToken::new()))
                .map_err(|_| "no receiver")
        }
    };
    catalog.register(tool("leaks"), leaks).unwrap();
    let log = EventLog::default();
    let driver = scripted([calling(&["leaks"]), Turn::answer("ok")]).with_events(log.clone());
    driver.run(&mut session(&catalog), "go").await.unwrap();
    leaked
        .recv()
        .await
        .unwrap()
        .report(Progress::message("late"));
    assert_eq!(
        words(&log.events()),
        ["start a", "result a", "text ok", "done"]
    );
}

#[tokio::test]
async fn a_start_shows_what_the_call_would_touch() {
    let mut catalog = Catalog::new();
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let effects = serde_json::from_value(json!({"reads": ["fs:{path}"]})).unwrap();
    let read = Tool::new("fs.read", "Reads.", schema)
        .unwrap()
        .with_effects(effects);
    catalog
        .register(read, async |_: ToolContext, _: Value| String::new())
        .unwrap();
    let call = |id: &str, arguments| ToolCall::new(id, "fs.read", arguments);
    let turn = Turn::calls([call("a", json!({"path": "src/../x"})), call("b", json!({}))]);
    let events = events_of(session(&catalog), [turn, Turn::answer("ok")]).await;
    let started = |event: &Event| match event {
        Event::CallStarted {
            targets, rulings, ..
        } => Some((
            targets.iter().map(ToString::to_string).collect::<Vec<_>>(),
            rulings.clone(),
        )),
        _ => None,
    };
    let started: Vec<_> = events.iter().filter_map(started).collect();
    let [(targets, rulings), unknown] = &started[..] else {
        panic!("{started:?}")
    };
    assert_eq!(targets, &["fs:read:x"]);
    let asked =
        json!({"target": "fs:read:x", "verdict": "ask", "reasons": [{"kind": "ungranted"}]});
    assert_eq!(rulings, &[Json::from(asked)]);
    assert_eq!(unknown, &(vec![], vec![]));
}

#[tokio::test]
async fn a_failed_run_sends_done_too() {
    let log = EventLog::default();
    let driver = scripted([calling(&["breaks"])]).with_events(log.clone());
    driver.run(&mut breaking(), "go").await.unwrap_err();
    let Some(Event::Done(summary)) = log.events().pop() else {
        panic!()
    };
    assert!(
        matches!(summary.outcome, Outcome::Failed { message, .. } if message.contains("the wheel came off"))
    );
    assert_eq!(words(&log.events()), ["start a", "result a", "done"]);
}

#[tokio::test]
async fn the_correlation_id_of_a_run_reaches_its_host_and_its_calls() {
    let mut catalog = Catalog::new();
    let id = async |cx: ToolContext, _: Value| cx.correlation_id().unwrap_or("none").to_owned();
    catalog.register(tool("id"), id).unwrap();
    let mut session = session(&catalog);
    let driver = scripted([
        calling(&["id"]),
        Turn::answer("done"),
        calling(&["id"]),
        Turn::answer("done"),
    ]);
    let run = async |driver: Driver, session: &mut Session| {
        let log = EventLog::default();
        driver
            .with_events(log.clone())
            .run(session, "go")
            .await
            .unwrap();
        log.events()
    };
    let events = run(
        driver.clone().with_options(RunOptions {
            correlation_id: Some("request 7".into()),
            ..RunOptions::default()
        }),
        &mut session,
    )
    .await;
    assert_eq!(
        events[0],
        Event::Started {
            correlation_id: "request 7".to_owned()
        }
    );
    assert!(
        matches!(&events[2], Event::Result { result, .. } if result.to_text() == "request 7"),
        "{events:?}"
    );
    let events = run(driver, &mut session).await;
    assert!(
        matches!(&events[1], Event::Result { result, .. } if result.to_text() == "none"),
        "{events:?}"
    );
}
