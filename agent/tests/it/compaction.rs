//! Conversations that are longer than the model's context.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent::{
    BudgetLimits, Compacted, CompactionCause, Driver, DriverError, Event, Outcome, Plan, Provider, Request, RunOptions,
    Selection, Session, StopReason, Turn, TurnFuture,
};
use serde_json::json;
use tools::protocol::{Message, Role};
use tools::{ToolCall, ToolContext};

use crate::small_context::{SmallContext, catalog, check_pairing, context, text, tokens, too_long};
use crate::workshop::{EventLog, answer, playing, results};

fn session(bytes: usize) -> Session {
    Session::new(catalog(bytes).list(), Selection::new(), context())
}

fn driver(model: &SmallContext, log: &EventLog) -> Driver {
    Driver::new(Arc::new(model.clone())).with_max_steps(2000).with_events(log.clone())
}

fn compactions(log: &EventLog) -> Vec<Compacted> {
    let compacted = |event| match event {
        Event::Compacted(compacted) => Some(compacted),
        _ => None,
    };
    log.events().into_iter().filter_map(compacted).collect()
}

#[tokio::test]
async fn a_session_of_400_turns_with_a_small_context_compacts_loses_no_pairing_and_finishes() {
    let model = SmallContext::new(400, 8_000);
    let (mut session, log) = (session(900), EventLog::default());
    let summary = driver(&model, &log).run(&mut session, "Read the files.").await.unwrap();
    assert_eq!((answer(&summary.outcome), summary.steps, summary.calls), ("read 400", 401, 800));

    let seen = model.log.lock().unwrap();
    assert!(seen.refused > 0 && seen.summaries > 1 && seen.largest <= 8_000, "{}, {}", seen.refused, seen.summaries);
    for request in &seen.requests {
        assert_eq!(request[0], Message::text(Role::User, "Read the files."), "the stable prefix stays");
    }
    let last = seen.requests.last().unwrap();
    assert!(last[1].to_text().contains(&format!("Summary {}", seen.summaries)), "{}", last[1].to_text());

    let compactions = compactions(&log);
    assert!(compactions.iter().all(|compacted| compacted.cause == CompactionCause::ContextLength));
    assert!(compactions.iter().all(|compacted| compacted.after.bytes < compacted.before.bytes));
    assert!(compactions.iter().any(|compacted| compacted.summarised.is_some()));

    // The session has everything that the requests left out.
    check_pairing(session.messages());
    let results = results(session.messages());
    assert_eq!(results.len(), 800);
    for (number, pair) in results.chunks(2).enumerate() {
        assert_eq!(pair[0].1.to_text(), text(&json!({"number": number + 1, "file": "a"}), 900));
    }
}

#[tokio::test]
async fn the_reported_usage_tells_how_full_the_context_is() {
    let model = SmallContext { is_open: true, ..SmallContext::new(100, 8_000) };
    let (mut session, log) = (session(900), EventLog::default());
    let summary = driver(&model, &log).run(&mut session, "Read the files.").await.unwrap();
    assert_eq!(answer(&summary.outcome), "read 100");
    let seen = model.log.lock().unwrap();
    assert_eq!(seen.refused, 0, "no request is too long");
    assert!(seen.summaries > 0 && seen.largest > 5_000, "{} {}", seen.summaries, seen.largest);
    let compactions = compactions(&log);
    assert!(compactions.iter().all(|compacted| compacted.cause == CompactionCause::NearLimit));
    for compacted in compactions {
        assert!((6_400..=8_000).contains(&compacted.before.tokens), "{compacted:?}");
        assert!(compacted.after.tokens < 4_500, "{compacted:?}");
    }
    let usage = summary.usage.unwrap();
    let requested: u64 = seen.requests.iter().map(|request| tokens(request)).sum();
    assert_eq!(usage.input_tokens, requested, "summaries count");
}

#[tokio::test]
async fn the_option_limits_the_context_of_a_model_that_does_not_tell_it() {
    let model = SmallContext::new(60, 1_000_000);
    let (mut session, log) = (session(900), EventLog::default());
    let options = RunOptions::new().with_context_tokens(8_000);
    driver(&model, &log).with_options(options).with_max_steps(100).run(&mut session, "Read.").await.unwrap();
    let seen = model.log.lock().unwrap();
    assert!(seen.largest < 12_000 && !compactions(&log).is_empty(), "{}", seen.largest);
}

#[tokio::test]
async fn a_replaced_result_is_read_by_its_handle() {
    let model = SmallContext { is_open: true, ..SmallContext::new(12, 8_000) };
    let (mut session, log) = (session(1500), EventLog::default());
    driver(&model, &log).run(&mut session, "Read the files.").await.unwrap();
    let first = &compactions(&log)[0];
    assert_eq!(first.replaced[0], "c1-a");
    let requests = model.log.lock().unwrap().requests.clone();
    let shown = results(requests.iter().find(|request| is_replaced(request)).unwrap());
    let notice = shown[0].1.to_text();
    let handle = notice.split("handle ").nth(1).unwrap().trim_end_matches(']');
    let read = session.execute("tools.output", json!({"handle": handle})).await.unwrap();
    assert!(read.to_text().starts_with(&text(&json!({"number": 1, "file": "a"}), 1500)));
}

fn is_replaced(request: &[Message]) -> bool {
    results(request).first().is_some_and(|(id, result)| id == "c1-a" && result.to_text().contains("handle"))
}

#[tokio::test]
async fn later_runs_of_the_session_continue_with_the_summary_and_the_plan() {
    let model = SmallContext { is_open: true, ..SmallContext::new(60, 8_000) };
    let (mut session, log) = (session(900), EventLog::default());
    let items = json!([{"text": "read on"}]);
    session.execute("todo.write", json!({"items": items})).await.unwrap();
    driver(&model, &log).run(&mut session, "Read the files.").await.unwrap();
    let summaries = model.log.lock().unwrap().summaries;
    let more = SmallContext { turns: 62, ..model.clone() };
    driver(&more, &log).run(&mut session, "Go on.").await.unwrap();
    let seen = model.log.lock().unwrap();
    let last = seen.requests.last().unwrap();
    assert_eq!(results(session.messages()).len(), 124);
    assert!(last.len() < session.messages().len() / 2);
    let summary = last[1].to_text();
    assert!(summary.contains(&format!("Summary {summaries}")) && summary.contains("[open] read on"), "{summary}");
    assert_eq!(session.context().service::<Plan>().unwrap().items().len(), 1);
}

#[tokio::test]
async fn a_later_prompt_stays_word_for_word_when_the_turns_after_it_are_summarised() {
    let model = SmallContext { is_open: true, ..SmallContext::new(2, 8_000) };
    let (mut session, log) = (session(900), EventLog::default());
    driver(&model, &log).run(&mut session, "Read the files.").await.unwrap();
    let more = SmallContext { turns: 60, ..model.clone() };
    driver(&more, &log).run(&mut session, "Now read the others.").await.unwrap();
    let seen = model.log.lock().unwrap();
    assert!(seen.summaries > 1);
    let last = seen.requests.last().unwrap();
    assert_eq!(last[0].to_text(), "Read the files.");
    assert!(last[1].to_text().contains("Now read the others."), "{}", last[1].to_text());
}

#[tokio::test]
async fn a_new_result_that_exceeds_the_context_alone_is_replaced_too() {
    let model = SmallContext::new(3, 8_000);
    let (mut session, log) = (session(20_000), EventLog::default());
    let summary = driver(&model, &log).run(&mut session, "Read the files.").await.unwrap();
    assert_eq!(answer(&summary.outcome), "read 3");
    assert_eq!(model.log.lock().unwrap().summaries, 0, "there was nothing older");
    assert!(compactions(&log)[0].replaced.contains(&"c1-a".to_owned()));
}

#[tokio::test]
async fn a_request_that_cannot_be_shortened_fails_with_the_error_of_the_service() {
    let model = SmallContext::new(3, 100);
    let (mut session, log) = (session(900), EventLog::default());
    let error = driver(&model, &log).run(&mut session, "long ".repeat(1000)).await.unwrap_err();
    let DriverError::Provider(error) = error else { panic!("{error:?}") };
    assert_eq!(error.to_string(), too_long().to_string());
    assert_eq!((model.log.lock().unwrap().refused, compactions(&log).len()), (1, 0));
}

#[tokio::test]
async fn a_model_that_writes_no_summary_keeps_the_names_of_its_calls() {
    struct Mute(SmallContext);
    impl Provider for Mute {
        fn name(&self) -> &str {
            "mute"
        }
        fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
            let turn = self.0.complete(request);
            Box::pin(async move {
                let turn = turn.await?;
                let is_summary = turn.message.to_text().starts_with("Summary");
                Ok(if is_summary { Turn::calls([ToolCall::new("x", "read", json!({}))]) } else { turn })
            })
        }
    }
    let model = SmallContext::new(60, 8_000);
    let mut session = Session::new(catalog(900).list(), Selection::new(), ToolContext::new());
    let driver = Driver::new(Arc::new(Mute(model.clone()))).with_max_steps(500);
    let summary = driver.run(&mut session, "Read the files.").await.unwrap();
    assert_eq!((answer(&summary.outcome), summary.calls), ("read 60", 120));
    let seen = model.log.lock().unwrap();
    let shown = seen.requests.last().unwrap()[1].to_text();
    assert!(shown.contains("read ("), "{shown}");
}

#[tokio::test]
async fn a_call_whose_result_was_left_out_may_be_repeated() {
    let read = |number: usize| Turn::calls([ToolCall::new(format!("c{number}"), "read", json!({"number": 1}))]);
    let play = playing(move |request| {
        let last = request.messages.iter().rev().flat_map(Message::calls).next();
        let next = last.map_or(0, |call| call.id[1..].parse::<usize>().unwrap() + 1);
        let turn = if next < 12 { read(next) } else { Turn::answer("done") };
        let turn = if request.is_summary { Turn::answer("Summary.") } else { turn };
        Box::pin(async move { Ok(turn) })
    });
    let log = EventLog::default();
    let driver = play.with_options(RunOptions::new().with_context_tokens(2500)).with_events(log.clone());
    let summary = driver.run(&mut session(3000), "Read it.").await.unwrap();
    assert_eq!(answer(&summary.outcome), "done");
    assert!(compactions(&log).len() > 2);
}

#[tokio::test]
async fn a_summary_counts_as_a_step_and_is_left_out_if_the_budget_has_none() {
    let model = SmallContext { is_open: true, ..SmallContext::new(100, 8_000) };
    let (mut session, log) = (session(900), EventLog::default());
    let summary = driver(&model, &log).with_max_steps(30).run(&mut session, "Read the files.").await.unwrap();
    let requests = model.log.lock().unwrap().requests.len();
    assert!(matches!(summary.outcome, agent::Outcome::Budget(_)), "{summary:?}");
    assert_eq!(requests, 30);
    assert!(u64::from(summary.steps) < 30);
}

#[tokio::test]
async fn a_paused_summary_is_continued_and_each_request_is_a_step() {
    for pauses in [2, usize::MAX] {
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        let play = playing(move |request| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            let parts = request.messages.iter().rev().take_while(|message| message.role == Role::Assistant).count();
            let has_summary = request.messages.iter().any(|message| {
                message.to_text().contains(
                    "Part 0
Part 1
Part 2",
                )
            });
            let turn = match parts {
                _ if has_summary => Turn::answer("done"),
                parts if request.is_summary => {
                    let stop = if parts < pauses { StopReason::Paused } else { StopReason::Answer };
                    Turn::answer(format!("Part {parts}")).with_stop(stop)
                }
                _ => Turn::calls([ToolCall::new(format!("c{number}"), "read", json!({"number": number}))]),
            };
            Box::pin(async move { Ok(turn) })
        });
        let options = RunOptions::new().with_context_tokens(2000).with_limits(BudgetLimits::new().with_steps(90));
        let summary = play.with_options(options).run(&mut session(300), "Read it.").await.unwrap();
        let requests = requests.load(Ordering::Relaxed);
        match pauses {
            2 => assert_eq!((answer(&summary.outcome), requests), ("done", summary.steps as usize + 3)),
            _ => assert!(matches!(summary.outcome, Outcome::Budget(_)) && requests == 90, "{summary:?} {requests}"),
        }
    }
}
