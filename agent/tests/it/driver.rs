//! The loop with its I/O.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::workshop::{
    EventLog, answer, breaking, calling, catalog, kind, misbehaving, playing, results, scripted,
    session, tool,
};
use agent::{
    BudgetScope, DriverError, Event, Exhausted, Outcome, ProviderError, Request, Resource,
    Selection, Session, Turn,
};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Catalog, Content, ErrorCode, Host, ToolContext};

/// Fails if the future hangs.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(10), future)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_an_event_is_sent_begins_no_call() {
    for of in ["text", "call_started"] {
        let runs = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let mut catalog = Catalog::new();
        let counts = runs.clone();
        let count = move |_: ToolContext, _: Value| {
            counts.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            async { "counted".to_owned() }
        };
        catalog.register(tool("counts"), count).unwrap();
        let token = CancellationToken::new();
        let stop = token.clone();
        let sink = move |event: Event| match event {
            Event::Text { .. } if of == "text" => stop.cancel(),
            Event::CallStarted { .. } if of == "call_started" => stop.cancel(),
            _ => {}
        };
        let mut turn = calling(&["counts"]);
        turn.message
            .parts
            .insert(0, Part::Content("I shall count.".into()));
        let driver = scripted([turn, Turn::answer("done")])
            .with_events(sink)
            .with_cancellation(token);
        let mut session = session(&catalog);
        let summary = soon(tokio::spawn(
            async move { driver.run(&mut session, "go").await },
        ))
        .await
        .unwrap()
        .unwrap();
        assert_eq!(summary.outcome, Outcome::Cancelled, "{of}");
        assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0, "{of}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_turn_run_at_once() {
    let barrier = Arc::new(Barrier::new(2));
    let mut catalog = Catalog::new();
    for name in ["left", "right"] {
        let barrier = barrier.clone();
        let meet = move |_: ToolContext, _: Value| {
            let barrier = barrier.clone();
            async move {
                barrier.wait().await;
                "met".to_owned()
            }
        };
        catalog.register(tool(name), meet).unwrap();
    }
    let mut session = session(&catalog);
    let driver = scripted([calling(&["left", "right"]), Turn::answer("both")]);
    let summary = soon(driver.run(&mut session, "meet")).await.unwrap();
    assert_eq!(
        (answer(&summary.outcome), summary.failed_calls),
        ("both", 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_block_their_thread_do_not_wait_for_each_other() {
    let barrier = Arc::new(std::sync::Barrier::new(2));
    let mut catalog = Catalog::new();
    for name in ["left", "right"] {
        let barrier = barrier.clone();
        let meet = move |_: &ToolContext, _: Value| {
            barrier.wait();
            "met".to_owned()
        };
        catalog
            .register(tool(name), tools::handler::blocking(meet))
            .unwrap();
    }
    let mut session = session(&catalog);
    let summary = scripted([calling(&["left", "right"]), Turn::answer("both")])
        .run(&mut session, "meet")
        .await
        .unwrap();
    assert_eq!(summary.failed_calls, 0);
}

#[tokio::test]
async fn results_go_to_the_model_in_the_order_of_the_calls() {
    let mut catalog = Catalog::new();
    for (name, delay) in [("slow", 20), ("fast", 0)] {
        let handler = move |_: ToolContext, _: Value| async move {
            tokio::time::sleep(Duration::from_millis(delay)).await;
            name.to_owned()
        };
        catalog.register(tool(name), handler).unwrap();
    }
    let mut session = session(&catalog);
    scripted([calling(&["slow", "fast"]), Turn::answer("done")])
        .run(&mut session, "go")
        .await
        .unwrap();
    let texts: Vec<_> = results(session.messages())
        .iter()
        .map(|(_, result)| result.to_text())
        .collect();
    assert_eq!(texts, ["slow", "fast"]);
}

#[tokio::test]
async fn a_session_keeps_the_conversation() {
    let mut session = session(&catalog(["x"]));
    session.push(Message::text(Role::System, "be kind"));
    let driver = scripted([calling(&["x"]), Turn::answer("one"), Turn::answer("two")]);
    driver.run(&mut session, "first").await.unwrap();
    driver.run(&mut session, "second").await.unwrap();
    let roles: Vec<_> = session
        .messages()
        .iter()
        .map(|message| message.role)
        .collect();
    use Role::{Assistant, System, User};
    assert_eq!(
        roles,
        [
            System,
            User,
            Assistant,
            Role::Tool,
            Assistant,
            User,
            Assistant
        ]
    );
    session.clear();
    assert_eq!(session.messages().len(), 1);
}

#[tokio::test]
async fn a_conversation_keeps_no_spare_memory_of_its_results() {
    let mut catalog = Catalog::new();
    let read = async |_: ToolContext, _: Value| {
        let mut text = String::with_capacity(10_000);
        text.push_str("short");
        text
    };
    catalog.register(tool("reads"), read).unwrap();
    let mut session = session(&catalog);
    let driver = scripted([calling(&["reads"]), Turn::answer("done")]);
    driver.run(&mut session, "go").await.unwrap();
    let mut parts = session.messages().iter().flat_map(|message| &message.parts);
    let result = parts.find_map(|part| match part {
        Part::ToolResult { result, .. } => Some(result),
        _ => None,
    });
    let [Content::Text { text }] = &result.unwrap().content[..] else {
        panic!("{result:?}")
    };
    assert_eq!((text.as_str(), text.capacity()), ("short", 5));
}

#[tokio::test]
async fn a_used_up_budget_ends_the_run() {
    let mut session = session(&catalog(["x"]));
    let driver = scripted([calling(&["x"]), calling(&["x"]), calling(&["x"])]).with_max_steps(2);
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        summary.outcome,
        Outcome::Budget(Exhausted {
            resource: Resource::Steps,
            limit: 2,
            scope: BudgetScope::Run
        })
    );
    assert_eq!((summary.steps, summary.calls), (2, 2));
    assert_eq!(results(session.messages()).len(), 2);
}

#[tokio::test]
async fn a_misbehaving_tool_gets_a_result_and_the_run_goes_on() {
    let cx = Host::new().with_timeout(Duration::from_millis(50));
    let mut session = Session::new(misbehaving().list(), Selection::new(), cx);
    let turn = calling(&["fine", "panics", "hangs", "fails", "blames", "missing"]);
    let summary = scripted([turn, Turn::answer("well")])
        .run(&mut session, "go")
        .await
        .unwrap();
    assert_eq!(
        (answer(&summary.outcome), summary.failed_calls),
        ("well", 5)
    );
    let results = results(session.messages());
    let kinds: Vec<_> = results.iter().map(|(_, result)| kind(result)).collect();
    assert_eq!(
        kinds,
        [
            "none",
            "panicked",
            "timeout",
            "execution_failed",
            "execution_failed",
            "not_found"
        ]
    );
}

#[tokio::test]
async fn broken_machinery_ends_the_run_after_every_call_has_its_result() {
    let mut session = breaking();
    let driver = scripted([calling(&["breaks", "fine"]), Turn::answer("never said")]);
    let error = driver.run(&mut session, "go").await.unwrap_err();
    assert!(
        matches!(&error, DriverError::Tool(error) if error.code() == ErrorCode::Internal),
        "{error}"
    );
    let results = results(session.messages());
    assert_eq!(
        results
            .iter()
            .map(|(_, result)| kind(result))
            .collect::<Vec<_>>(),
        ["internal", "none"]
    );
    assert!(
        results[0].1.to_text().contains("the wheel came off"),
        "{}",
        results[0].1.to_text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_gives_each_call_exactly_one_result() {
    let (token, log) = (CancellationToken::new(), EventLog::default());
    let mut session = session(&misbehaving());
    let driver = scripted([
        calling(&["slow", "fine", "hangs"]),
        Turn::answer("never said"),
    ])
    .with_cancellation(token.clone())
    .with_events(log.clone());
    let cancel = async {
        while !log
            .events()
            .iter()
            .any(|event| matches!(event, Event::Result { .. }))
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        token.cancel();
    };
    let (summary, ()) = tokio::join!(driver.run(&mut session, "go"), cancel);
    assert_eq!(summary.unwrap().outcome, Outcome::Cancelled);
    let results = results(session.messages());
    assert_eq!(
        results
            .iter()
            .map(|(_, result)| kind(result))
            .collect::<Vec<_>>(),
        ["cancelled", "none", "cancelled"]
    );
    let sent = log
        .events()
        .iter()
        .filter(|event| matches!(event, Event::Result { .. }))
        .count();
    assert_eq!(sent, 3);
}

#[tokio::test]
async fn the_token_of_the_session_cancels_as_well() {
    let token = CancellationToken::new();
    let cx = Host::new().with_cancellation(token.clone());
    let mut session = Session::new(misbehaving().list(), Selection::new(), cx);
    let driver = scripted([calling(&["slow"])]);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        token.cancel();
    };
    let (summary, ()) = tokio::join!(driver.run(&mut session, "go"), cancel);
    assert_eq!(summary.unwrap().outcome, Outcome::Cancelled);
    assert_eq!(results(session.messages()).len(), 1);
}

#[tokio::test]
async fn a_model_that_never_answers_can_be_cancelled() {
    let token = CancellationToken::new();
    let driver = playing(|_| Box::pin(std::future::pending())).with_cancellation(token.clone());
    let mut session = session(&catalog(["x"]));
    let cancel = async { token.cancel() };
    let (summary, ()) = tokio::join!(driver.run(&mut session, "go"), cancel);
    assert_eq!(summary.unwrap().outcome, Outcome::Cancelled);
    assert!(
        session.messages().is_empty(),
        "a prompt that no model took up is not kept"
    );
}

#[tokio::test]
async fn a_run_that_is_dropped_tells_its_calls_to_stop_and_leaves_the_session_alone() {
    let (started, mut stopped) = tokio::sync::mpsc::unbounded_channel();
    let mut catalog = Catalog::new();
    let waits = move |cx: ToolContext, _: Value| {
        let started = started.clone();
        async move {
            let token = cx.cancellation().clone();
            started.send("started").unwrap();
            tokio::spawn(async move {
                token.cancelled().await;
                started.send("stopped").unwrap();
            });
            std::future::pending::<String>().await
        }
    };
    catalog.register(tool("waits"), waits).unwrap();
    let mut session = session(&catalog);
    let driver = scripted([calling(&["waits"])]);
    let run = tokio::time::timeout(Duration::from_millis(50), driver.run(&mut session, "go"));
    assert!(run.await.is_err());
    assert_eq!(soon(stopped.recv()).await, Some("started"));
    assert_eq!(soon(stopped.recv()).await, Some("stopped"));
    assert!(session.messages().is_empty());
}

#[tokio::test]
async fn a_run_that_is_dropped_tells_its_provider_to_stop() {
    let (sender, mut stopped) = tokio::sync::mpsc::unbounded_channel();
    let driver = playing(move |request| {
        let (token, stopped) = (request.cancellation.clone(), sender.clone());
        tokio::spawn(async move {
            token.cancelled().await;
            stopped.send(()).unwrap();
        });
        Box::pin(std::future::pending())
    });
    let mut session = session(&catalog(["x"]));
    assert!(
        tokio::time::timeout(Duration::from_millis(20), driver.run(&mut session, "go"))
            .await
            .is_err()
    );
    assert_eq!(soon(stopped.recv()).await, Some(()));
}

#[tokio::test]
async fn an_error_of_the_provider_is_typed_and_what_was_done_is_kept() {
    let mut session = session(&catalog(["x"]));
    let error = scripted([calling(&["x"])])
        .run(&mut session, "go")
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        DriverError::Provider(ProviderError::OutOfTurns { turns: 1 })
    ));
    assert_eq!(session.messages().len(), 3);

    let error = scripted([]).run(&mut session, "again").await.unwrap_err();
    assert!(matches!(
        error,
        DriverError::Provider(ProviderError::OutOfTurns { turns: 0 })
    ));
    assert_eq!(
        session.messages().len(),
        3,
        "a prompt that no model took up is not kept"
    );
}

#[test]
fn a_run_without_a_runtime_is_an_error() {
    let mut session = session(&catalog(["x"]));
    let driver = scripted([Turn::answer("hm")]);
    let mut run = std::pin::pin!(driver.run(&mut session, "go"));
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(outcome) = run.as_mut().poll(&mut task) else {
        panic!("pending")
    };
    assert!(matches!(outcome, Err(DriverError::NoRuntime)));
}

#[tokio::test]
async fn a_tool_sees_its_call_its_session_and_its_deadline() {
    let mut catalog = Catalog::new();
    let tells = async |cx: ToolContext, _: Value| {
        let deadline = cx
            .deadline()
            .is_some_and(|deadline| deadline > Instant::now());
        json!([cx.call_id(), cx.session(), cx.principal(), deadline])
    };
    catalog.register(tool("tells"), tells).unwrap();
    let cx = Host::new().with_session("s-1").with_principal("ada");
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    scripted([calling(&["tells"]), Turn::answer("done")])
        .run(&mut session, "go")
        .await
        .unwrap();
    assert_eq!(
        results(session.messages())[0].1.structured,
        Some(json!(["a", "s-1", "ada", true]).into())
    );
}

#[tokio::test]
async fn a_call_with_a_fault_is_reported_and_never_run() {
    let (log, mut session) = (EventLog::default(), session(&catalog(["x", "y"])));
    let faulty = calling(&["x", "y"]).with_fault(0, "the arguments were cut off");
    let all_faulty = calling(&["x"]).with_fault(0, "cut off again");
    let driver = scripted([faulty, all_faulty, Turn::answer("well")]).with_events(log.clone());
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        (
            answer(&summary.outcome),
            summary.calls,
            summary.failed_calls
        ),
        ("well", 3, 2)
    );
    let results = results(session.messages());
    let texts: Vec<_> = results
        .iter()
        .map(|(_, result)| (result.to_text(), result.is_error))
        .collect();
    let expected = [
        ("the arguments were cut off", true),
        ("y", false),
        ("cut off again", true),
    ];
    assert_eq!(
        texts,
        expected.map(|(text, is_error)| (text.to_owned(), is_error))
    );
    let sent = log
        .events()
        .iter()
        .filter(|event| matches!(event, Event::Result { .. }))
        .count();
    assert_eq!(sent, 3);
}

#[tokio::test]
async fn streamed_text_is_not_sent_again() {
    let log = EventLog::default();
    let writes = |request: Request<'_>| {
        ["a", "b"]
            .iter()
            .for_each(|text| request.text_sink.unwrap()(text));
        Ok(Turn::answer("ab"))
    };
    let driver =
        playing(move |request| Box::pin(async move { writes(request) })).with_events(log.clone());
    driver
        .run(&mut session(&catalog(["x"])), "go")
        .await
        .unwrap();
    let text = |event: &Event| {
        if let Event::Text { text } = event {
            Some(text.clone())
        } else {
            None
        }
    };
    assert_eq!(
        log.events().iter().filter_map(text).collect::<Vec<_>>(),
        ["a", "b"]
    );
}
