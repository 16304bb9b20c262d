//! The requests of `llm.generate` as a part of a run: its budget and its events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agent::{
    Budget, BudgetError, BudgetLimits, BudgetScope, BudgetWindow, Driver, DriverError, Event,
    Exhausted, Models, Outcome, Provider, ProviderError, ProviderInfo, Request, RequestRetry,
    Resource, RunOptions, Selection, Session, Spending, Turn, TurnFuture, WindowFuture,
};
use serde_json::json;
use tools::{Catalog, Grant, Host, ToolCall};

use crate::workshop::{EventLog, answer, playing, results, scripted};

/// A model that fails once after its reply has begun, and then answers.
struct Flaky;

impl Provider for Flaky {
    fn about(&self) -> &ProviderInfo {
        static FLAKY: ProviderInfo = ProviderInfo::new("flaky");
        &FLAKY
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        retried(&request);
        Box::pin(async { Ok(Turn::answer("ok")) })
    }
}

/// Reports an attempt that broke off, and its retry.
fn retried(request: &Request<'_>) {
    request.lost_reply_sink.iter().for_each(|sink| sink());
    let error = ProviderError::Connection {
        provider: "flaky".to_owned(),
        message: "cut".to_owned(),
    };
    request
        .retry_sink
        .iter()
        .for_each(|sink| sink(RequestRetry::new(1, 3, 250, &error)));
}

/// Returns a session whose model may be asked.
fn session(cx: Host) -> Session {
    let mut catalog = Catalog::new();
    agent::tool::register(&mut catalog).unwrap();
    let cx = cx
        .with_service(Models::new(Arc::new(Flaky)))
        .with_grant(Grant::all());
    Session::new(catalog.list(), Selection::parse(["llm.*"]).unwrap(), cx)
}

fn asking() -> Turn {
    let ask = |id: &str, prompt: &str| ToolCall::new(id, "llm.generate", json!({"prompt": prompt}));
    Turn::calls([ask("a", "?"), ask("b", "??")])
}

#[tokio::test]
async fn the_retries_of_a_request_are_events_of_the_run() {
    let log = EventLog::default();
    let driver = scripted([asking(), Turn::answer("done")]).with_events(log.clone());
    driver.run(&mut session(Host::new()), "go").await.unwrap();
    let events = log.events();
    let is_retry =
        |event: &&Event| matches!(event, Event::RequestRetried(retry) if retry.wait_ms == 250);
    assert_eq!(events.iter().filter(is_retry).count(), 2, "{events:?}");
}

#[tokio::test]
async fn an_exhausted_budget_ends_the_run_with_its_reason() {
    let mut session = session(Host::new());
    let limits = BudgetLimits {
        steps: Some(2),
        ..BudgetLimits::default()
    };
    let driver = scripted([asking(), Turn::answer("never")]).with_options(RunOptions {
        limits,
        ..RunOptions::default()
    });
    let summary = driver.run(&mut session, "go").await.unwrap();
    let exhausted = Exhausted {
        resource: Resource::Steps,
        limit: 2,
        scope: BudgetScope::Run,
    };
    assert_eq!(
        (summary.outcome, summary.steps),
        (Outcome::Budget(exhausted), 1)
    );
    let results = results(session.messages());
    let [first, second] = &results[..] else {
        panic!("{results:?}")
    };
    assert!(
        first.1.is_error != second.1.is_error,
        "the work so far stays: {results:?}"
    );
}

/// A window that refuses the second step alone.
#[derive(Default)]
struct Refusing(AtomicU64);

impl BudgetWindow for Refusing {
    fn charge(&self, spending: Spending) -> WindowFuture<'_> {
        let steps = self.0.fetch_add(spending.steps, Ordering::Relaxed) + spending.steps;
        let scope = BudgetScope::Window("day".to_owned());
        let is_granted = spending.steps == 0 || steps != 2;
        Box::pin(async move {
            if is_granted {
                Ok(())
            } else {
                Err(Exhausted {
                    resource: Resource::Steps,
                    limit: 1,
                    scope,
                }
                .into())
            }
        })
    }

    fn record(&self, _: Spending) -> WindowFuture<'_> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn the_model_is_not_asked_again_after_a_call_met_the_end_of_the_budget() {
    let mut session =
        session(Host::new().with_service(Budget::from_window(Arc::new(Refusing::default()))));
    let summary = scripted([asking(), Turn::answer("never")])
        .run(&mut session, "go")
        .await
        .unwrap();
    let scope = BudgetScope::Window("day".to_owned());
    assert_eq!(
        summary.outcome,
        Outcome::Budget(Exhausted {
            resource: Resource::Steps,
            limit: 1,
            scope
        })
    );
    assert_eq!((summary.steps, results(session.messages()).len()), (1, 2));
}

/// A window that has no counters of tokens.
struct Breaking;

impl BudgetWindow for Breaking {
    fn charge(&self, _: Spending) -> WindowFuture<'_> {
        Box::pin(async { Ok(()) })
    }

    fn record(&self, _: Spending) -> WindowFuture<'_> {
        Box::pin(async {
            Err(BudgetError::Window {
                reason: "no disk".to_owned(),
            })
        })
    }
}

#[tokio::test]
async fn a_broken_window_ends_the_run_as_in_a_request_of_the_driver() {
    let cx = Host::new().with_service(Budget::from_window(Arc::new(Breaking)));
    let mut session = session(cx);
    // Turns of a script use no tokens.
    let error = scripted([asking(), Turn::answer("never")])
        .run(&mut session, "go")
        .await
        .unwrap_err();
    assert!(
        matches!(error, DriverError::Budget(BudgetError::Window { .. })),
        "{error:?}"
    );
    assert_eq!(results(session.messages()).len(), 2);
}

/// Returns the tokens of a run, and whether it ended with an answer.
async fn spent(driver: Driver) -> (u64, bool) {
    let budget = Budget::new(BudgetLimits {
        tokens: Some(100_000),
        ..BudgetLimits::default()
    });
    let mut session = session(Host::new().with_service(budget.clone()));
    let ended = driver.run(&mut session, "go ".repeat(400)).await;
    (
        budget.spent().tokens,
        ended.is_ok_and(|summary| answer(&summary.outcome) == "done"),
    )
}

#[tokio::test]
async fn each_attempt_whose_reply_broke_off_uses_the_tokens_of_the_prompt() {
    let (whole, _) = spent(playing(|_| Box::pin(async { Ok(Turn::answer("done")) }))).await;
    let (twice, is_answered) = spent(playing(|request| {
        retried(&request);
        Box::pin(async { Ok(Turn::answer("done")) })
    }))
    .await;
    assert!(
        is_answered && (whole * 2 - 30..=whole * 2).contains(&twice),
        "{whole} {twice}"
    );
    let (lost, is_answered) = spent(playing(|request| {
        retried(&request);
        retried(&request);
        let (provider, message) = ("acme".to_owned(), "cut".to_owned());
        Box::pin(async { Err(ProviderError::Connection { provider, message }) })
    }))
    .await;
    assert!(
        !is_answered && (whole * 2 - 60..=whole * 2).contains(&lost),
        "{whole} {lost}"
    );

    // The turns of a script use no tokens, and the request of the tool has two attempts.
    let long = ToolCall::new("a", "llm.generate", json!({"prompt": "go ".repeat(400)}));
    let (tokens, is_answered) = spent(scripted([Turn::calls([long]), Turn::answer("done")])).await;
    assert!(
        is_answered && (whole * 2 - 60..=whole * 2).contains(&tokens),
        "{whole} {tokens}"
    );
}
