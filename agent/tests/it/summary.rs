//! Summaries of conversations that are longer than the model's context.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use agent::{
    BudgetLimits, Compacted, Driver, FailureKind, Outcome, Provider, ProviderError, ProviderInfo,
    Request, RunOptions, Selection, Session, StopReason, SummaryProblem, Turn, TurnFuture, extract,
};
use serde::Deserialize;
use serde_json::json;
use tools::protocol::{Message, Role};
use tools::{Host, JsonSchema, ToolCall};

use crate::compaction::{compactions, driver, session};
use crate::small_context::{SmallContext, catalog};
use crate::workshop::{EventLog, answer, playing};

/// A model that answers requests for a summary in another way.
struct Stubborn(SmallContext, fn() -> Result<Turn, ProviderError>);

impl Provider for Stubborn {
    fn about(&self) -> &ProviderInfo {
        self.0.about()
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        assert_eq!(request.is_summary, request.min_output_tokens > 0);
        let turn = self.0.complete(request);
        Box::pin(async move {
            if request.is_summary {
                turn.await.and_then(|_| self.1())
            } else {
                turn.await
            }
        })
    }
}

fn overloaded() -> Result<Turn, ProviderError> {
    let (provider, message, kind) = (
        "small".to_owned(),
        "busy".to_owned(),
        FailureKind::Overloaded,
    );
    Err(ProviderError::Status {
        provider,
        status: 529,
        kind,
        message,
        retry_after: None,
    })
}

const NO_SUMMARIES: [fn() -> Result<Turn, ProviderError>; 4] = [
    || Ok(Turn::calls([ToolCall::new("x", "read", json!({}))])),
    || {
        Ok(Turn {
            stop: StopReason::Refusal,
            ..Turn::answer("I will not.")
        })
    },
    || {
        Ok(Turn {
            stop: StopReason::Length,
            ..Turn::answer("The first")
        })
    },
    overloaded,
];

#[tokio::test]
async fn near_the_limit_the_messages_stay_if_there_is_no_whole_summary() {
    for no_summary in NO_SUMMARIES {
        let model = SmallContext::open(34, 8_000);
        let (mut session, log) = (session(900), EventLog::default());
        let driver =
            Driver::new(Arc::new(Stubborn(model.clone(), no_summary))).with_events(log.clone());
        let summary = driver.run(&mut session, "Read the files.").await.unwrap();
        assert_eq!(answer(&summary.outcome), "read 34");
        let seen = model.log.lock().unwrap();
        assert!(
            (1..=4).contains(&seen.summaries) && seen.refused == 0,
            "{} {}",
            seen.summaries,
            seen.refused
        );
        assert!(
            seen.largest > 6_400,
            "the model is not asked in each turn: {}",
            seen.largest
        );
        assert_eq!(
            seen.requests.last().unwrap().len(),
            session.messages().len() - 1,
            "all messages are sent"
        );
        let compactions = compactions(&log);
        assert!(
            compactions
                .iter()
                .all(|compacted| compacted.summarised.is_none())
        );
        let problems = compactions
            .iter()
            .filter(|compacted| compacted.summary_problem.is_some())
            .count();
        assert_eq!(problems, seen.summaries);
    }
}

#[tokio::test]
async fn a_summary_that_is_missing_does_not_stay_missing() {
    let model = SmallContext::open(100, 8_000);
    static FIRST: AtomicBool = AtomicBool::new(true);
    let no_summary = || {
        if FIRST.swap(false, Ordering::Relaxed) {
            overloaded()
        } else {
            Ok(Turn::answer("Summary."))
        }
    };
    let (mut session, log) = (session(900), EventLog::default());
    let driver = Driver::new(Arc::new(Stubborn(model.clone(), no_summary))).with_max_steps(200);
    driver
        .with_events(log.clone())
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    let compactions = compactions(&log);
    let first = compactions
        .iter()
        .position(|compacted| compacted.summary_problem.is_some())
        .unwrap();
    let later = compactions[first..]
        .iter()
        .filter(|compacted| compacted.summarised.is_some())
        .count();
    assert!(
        later > 1 && model.log.lock().unwrap().refused == 0,
        "{compactions:?}"
    );
}

#[tokio::test]
async fn a_model_that_writes_no_summary_keeps_the_names_of_its_calls() {
    for no_summary in &NO_SUMMARIES[..2] {
        let model = SmallContext::new(60, 8_000);
        let mut session = Session::new(catalog(900).list(), Selection::new(), Host::new());
        let log = EventLog::default();
        let driver =
            Driver::new(Arc::new(Stubborn(model.clone(), *no_summary))).with_max_steps(500);
        let summary = driver
            .with_events(log.clone())
            .run(&mut session, "Read the files.")
            .await
            .unwrap();
        assert_eq!((answer(&summary.outcome), summary.calls), ("read 60", 120));
        let seen = model.log.lock().unwrap();
        let shown = seen.requests.last().unwrap()[1].to_text();
        assert!(
            shown.contains("read (") && !shown.contains("will not"),
            "{shown}"
        );
        let replaced = |compacted: &Compacted| {
            compacted.summarised.is_some() && compacted.summary_problem.is_some()
        };
        assert!(compactions(&log).iter().any(replaced));
    }
}

#[tokio::test]
async fn an_earlier_summary_stays_if_the_model_writes_no_later_one() {
    static REQUESTS: AtomicUsize = AtomicUsize::new(0);
    let first_alone = || match REQUESTS.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(Turn::answer("The first summary.")),
        _ => Ok(Turn::answer("")),
    };
    let model = SmallContext::new(100, 8_000);
    let driver = Driver::new(Arc::new(Stubborn(model.clone(), first_alone))).with_max_steps(500);
    driver
        .run(&mut session(900), "Read the files.")
        .await
        .unwrap();
    assert!(REQUESTS.load(Ordering::Relaxed) > 2);
    let seen = model.log.lock().unwrap();
    let shown = seen.requests.last().unwrap()[1].to_text();
    assert!(
        shown.contains("The first summary.") && shown.contains("read ("),
        "{shown}"
    );
    assert_eq!(shown.matches("[Your calls").count(), 1, "{shown}");
}

#[tokio::test]
async fn the_oldest_turns_are_left_out_if_the_summary_of_a_request_that_is_too_long_fails() {
    let bad_request = || {
        let (provider, message) = ("small".to_owned(), "no".to_owned());
        let kind = FailureKind::BadRequest;
        Err(ProviderError::Status {
            provider,
            status: 400,
            kind,
            message,
            retry_after: None,
        })
    };
    let failures: [fn() -> Result<Turn, ProviderError>; 3] =
        [overloaded, bad_request, || panic!("no summary")];
    // The last service counts one token for each request.
    for (is_open, counted) in [
        (false, None),
        (true, None),
        (true, Some(1)),
        (true, Some(90)),
    ] {
        for failure in failures {
            let mut model = SmallContext::new(60, 8_000);
            if is_open {
                model = SmallContext::open(60, 8_000);
            }
            model.counted = counted;
            let (mut session, log) = (session(900), EventLog::default());
            let driver = Driver::new(Arc::new(Stubborn(model.clone(), failure)))
                .with_max_steps(500)
                .with_events(log.clone());
            let summary = driver.run(&mut session, "Read the files.").await.unwrap();
            assert_eq!(answer(&summary.outcome), "read 60");
            let compactions = compactions(&log);
            let is_left_out = |compacted: &Compacted| compacted.dropped.is_some();
            assert!(compactions.iter().any(is_left_out), "{compactions:?}");
            assert!(
                compactions
                    .iter()
                    .all(|compacted| compacted.summarised.is_none()
                        && compacted.after.bytes <= compacted.before.bytes),
                "{compactions:?}"
            );
            let seen = model.log.lock().unwrap();
            let last = seen.requests.last().unwrap();
            assert!(last[0].to_text().contains("Read the files."), "{last:?}");
            assert!(last[1].to_text().contains("was left out to save context"));
            assert!(last.len() > 20, "few turns are left out: {}", last.len());
        }
    }
}

#[tokio::test]
async fn a_summary_that_is_not_shorter_than_its_messages_is_rejected_and_the_oldest_turns_are_left_out()
 {
    let long = || Ok(Turn::answer("All of it again. ".repeat(5_000)));
    let model = SmallContext::new(30, 2_000);
    let (mut session, log) = (session(900), EventLog::default());
    let driver = Driver::new(Arc::new(Stubborn(model.clone(), long)))
        .with_max_steps(500)
        .with_events(log.clone());
    // Most of the context is the prompt, which stays.
    let prompt = format!("Read the files.{}", " Read each of them.".repeat(250));
    let summary = driver.run(&mut session, prompt).await.unwrap();
    assert_eq!(answer(&summary.outcome), "read 30");
    let compactions = compactions(&log);
    let any = |is: fn(&Compacted) -> bool| compactions.iter().any(is);
    assert!(
        any(|compacted| compacted.summary_problem == Some(SummaryProblem::NotShorter))
            && any(|compacted| compacted.dropped.is_some())
            && !any(|compacted| compacted.after.bytes > compacted.before.bytes),
        "{compactions:?}"
    );
}

#[tokio::test]
async fn a_summary_is_kept_although_the_service_counts_too_few_tokens() {
    for counted in [1, 90] {
        let mut model = SmallContext::open(60, 8_000);
        model.counted = Some(counted);
        let (mut session, log) = (session(900), EventLog::default());
        let driver = driver(&model, &log).with_max_steps(500);
        driver.run(&mut session, "Read the files.").await.unwrap();
        let seen = model.log.lock().unwrap();
        let shown = seen.requests.last().unwrap()[1].to_text();
        assert!(shown.contains("Summary "), "{counted} {shown}");
    }
}

#[tokio::test]
async fn a_typed_answer_keeps_its_schema_after_a_rejected_answer() {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(crate = "tools::schemars")]
    struct Town {
        people: u32,
    }
    let driver = playing(|request| {
        let text = request
            .messages
            .iter()
            .map(Message::to_text)
            .collect::<Vec<_>>()
            .join("\n");
        let call = |id: String| Turn::calls([ToolCall::new("", "read", json!({"number": id}))]);
        let turn = match request.messages.iter().flat_map(Message::calls).count() {
            _ if request.is_summary => Turn::answer("Summary."),
            0 if !text.contains("Which town?") => Turn::answer("hello"),
            0 if !text.contains("does not match") && !text.contains("Summary.") => {
                Turn::answer("Ulm")
            }
            _ if !text.contains("Summary.") => call(request.messages.len().to_string()),
            _ if text.contains("\"people\"") => Turn::answer("{\"people\": 126000}"),
            _ => Turn::answer("Which schema?"),
        };
        Box::pin(async move { Ok(turn) })
    });
    let log = EventLog::default();
    let driver = driver
        .with_options(RunOptions {
            context_tokens: Some(2000),
            ..RunOptions::default()
        })
        .with_events(log.clone());
    let mut session = session(300);
    driver.run(&mut session, "Good morning.").await.unwrap();
    let town: Town = extract(&driver, &mut session, "Which town?").await.unwrap();
    assert_eq!(town.people, 126_000);
    assert!(
        compactions(&log)
            .iter()
            .any(|compacted| compacted.summarised.is_some())
    );
    let asked_back = session
        .messages()
        .iter()
        .any(|message| message.to_text() == "Which schema?");
    assert!(!asked_back, "the schema is in each request");
}

#[tokio::test]
async fn a_summary_counts_as_a_step_and_is_left_out_if_the_budget_has_none() {
    let model = SmallContext::open(100, 8_000);
    let (mut session, log) = (session(900), EventLog::default());
    let summary = driver(&model, &log)
        .with_max_steps(30)
        .run(&mut session, "Read the files.")
        .await
        .unwrap();
    let requests = model.log.lock().unwrap().requests.len();
    assert!(
        matches!(summary.outcome, agent::Outcome::Budget(_)),
        "{summary:?}"
    );
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
            let parts = request
                .messages
                .iter()
                .rev()
                .take_while(|message| message.role == Role::Assistant)
                .count();
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
                    let stop = if parts < pauses {
                        StopReason::Paused
                    } else {
                        StopReason::Answer
                    };
                    Turn {
                        stop,
                        ..Turn::answer(format!("Part {parts}"))
                    }
                }
                _ => Turn::calls([ToolCall::new(
                    format!("c{number}"),
                    "read",
                    json!({"number": number}),
                )]),
            };
            Box::pin(async move { Ok(turn) })
        });
        let options = RunOptions {
            context_tokens: Some(2000),
            limits: BudgetLimits {
                steps: Some(90),
                ..BudgetLimits::default()
            },
            ..RunOptions::default()
        };
        let summary = play
            .with_options(options)
            .run(&mut session(300), "Read it.")
            .await
            .unwrap();
        let requests = requests.load(Ordering::Relaxed);
        match pauses {
            2 => assert_eq!(
                (answer(&summary.outcome), requests),
                ("done", summary.steps as usize + 3)
            ),
            _ => assert!(
                matches!(summary.outcome, Outcome::Budget(_)) && requests == 90,
                "{summary:?} {requests}"
            ),
        }
    }
}
