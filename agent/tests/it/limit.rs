//! The limits of a run: its budget and its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::spawn::turns;
use crate::workshop::{
    EventLog, answer, calling, catalog, kind, misbehaving, playing, playing_at, results, scripted,
    session, tool,
};
use agent::{
    Budget, BudgetError, BudgetLimits, BudgetScope, BudgetWindow, Cost, Driver, DriverError, Event,
    Exhausted, Outcome, Price, ProviderError, Resource, RunOptions, Selection, Session, Spending,
    Turn, Usage, WindowFuture,
};
use serde_json::{Value, json};
use tools::{Catalog, Host, ToolCall, ToolContext};

fn limited(limits: BudgetLimits) -> RunOptions {
    RunOptions {
        limits,
        ..RunOptions::default()
    }
}

fn own(resource: Resource, limit: u64) -> Outcome {
    Outcome::Budget(Exhausted {
        resource,
        limit,
        scope: BudgetScope::Run,
    })
}

fn used(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    }
}

#[tokio::test]
async fn calls_beyond_the_budget_are_refused_and_the_run_ends_with_its_results() {
    let (log, mut session) = (EventLog::default(), session(&catalog(["x", "y"])));
    let driver = scripted([
        calling(&["x", "y"]),
        calling(&["y", "x"]),
        Turn::answer("never"),
    ]);
    let driver = driver
        .with_options(limited(BudgetLimits {
            calls: Some(3),
            ..BudgetLimits::default()
        }))
        .with_events(log.clone());
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(summary.outcome, own(Resource::Calls, 3));
    assert_eq!(
        (summary.steps, summary.calls, summary.failed_calls),
        (2, 4, 1)
    );
    let results = results(session.messages());
    assert_eq!(
        results[..3]
            .iter()
            .map(|(_, result)| result.to_text())
            .collect::<Vec<_>>(),
        ["x", "y", "y"]
    );
    assert!(
        results[3].1.is_error && results[3].1.to_text().contains("was not run"),
        "{results:?}"
    );
    let refused = |event: &Event| {
        matches!(
            event,
            Event::Result {
                error: Some(tools::ErrorCode::Refused),
                ..
            }
        )
    };
    assert_eq!(
        log.events().iter().filter(|event| refused(event)).count(),
        1
    );
}

#[tokio::test]
async fn no_turn_begins_after_the_last_token() {
    let mut session = session(&catalog(["x"]));
    let turn = || Turn {
        usage: Some(used(40, 10)),
        ..calling(&["x"])
    };
    let driver = scripted([turn(), turn(), turn()]);
    let driver = driver.with_options(limited(BudgetLimits {
        tokens: Some(100),
        ..BudgetLimits::default()
    }));
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        (summary.outcome, summary.steps),
        (own(Resource::Tokens, 100), 2)
    );
    assert_eq!(
        results(session.messages()).len(),
        2,
        "the work so far stays"
    );
}

#[tokio::test]
async fn tokens_that_a_service_does_not_report_are_estimated() {
    let driver = playing(|_| Box::pin(async { Ok(calling(&["x"])) }));
    let driver = driver.with_options(limited(BudgetLimits {
        tokens: Some(50),
        ..BudgetLimits::default()
    }));
    let prompt = "go ".repeat(100);
    let summary = driver
        .run(&mut session(&catalog(["x"])), prompt)
        .await
        .unwrap();
    assert_eq!(
        (summary.outcome, summary.steps),
        (own(Resource::Tokens, 50), 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_breaks_off_uses_tokens() {
    let spent = async |driver: Driver| {
        let budget = Budget::new(BudgetLimits {
            tokens: Some(10_000),
            ..BudgetLimits::default()
        });
        let cx = Host::new().with_service(budget.clone());
        let mut session = Session::new(catalog([]).list(), Selection::new(), cx);
        let ended = driver.run(&mut session, "go ".repeat(100)).await;
        (ended.map(|summary| summary.outcome), budget.spent().tokens)
    };
    let cut = playing(|request| {
        Box::pin(async move {
            request.text_sink.unwrap()(&"word ".repeat(400));
            Err(ProviderError::Failed {
                provider: "acme".to_owned(),
                message: "cut".to_owned(),
            })
        })
    });
    let (ended, tokens) = spent(cut).await;
    assert!(
        ended.is_err() && (575..600).contains(&tokens),
        "{ended:?} {tokens}"
    );

    let waits = playing(|_| Box::pin(std::future::pending()));
    let (ended, tokens) = spent(waits.with_options(limited(BudgetLimits {
        time: Some(Duration::from_secs(5)),
        ..BudgetLimits::default()
    })))
    .await;
    assert_eq!(ended.unwrap(), own(Resource::Time, 5000));
    assert!((75..100).contains(&tokens), "{tokens}");

    let refused = playing(|_| Box::pin(async { Err(ProviderError::NoPrompt) }));
    let (_, tokens) = spent(refused).await;
    assert_eq!(tokens, 0, "a refused request costs nothing");
}

#[tokio::test]
async fn money_follows_from_the_price_of_the_model() {
    let mut price = Price::new("2".parse().unwrap(), "10".parse().unwrap());
    price.rates.cached = "0.2".parse().unwrap();
    let usage = Usage {
        input_tokens: 1000,
        output_tokens: 50,
        cached_input_tokens: 500,
        ..Usage::default()
    };
    assert_eq!(price.cost(usage).to_string(), "0.0016");
    let writes = Usage {
        cache_write_tokens: 400,
        ..usage
    };
    assert_eq!(
        price.cost(writes),
        price.cost(usage),
        "unless it has a price of its own"
    );
    let mut dearer = price;
    dearer.rates.cache_write = "2.5".parse().unwrap();
    assert_eq!(dearer.cost(writes).to_string(), "0.0018");
    let limits = BudgetLimits {
        cost: Some("0.003".parse().unwrap()),
        ..BudgetLimits::default()
    };
    let turn = move || Turn {
        usage: Some(usage),
        ..calling(&["x"])
    };
    let run = async |price| {
        let driver = playing_at(price, move |request| {
            let turn = match turns(&request) {
                0 | 1 => turn(),
                _ => Turn::answer("done"),
            };
            Box::pin(async { Ok(turn) })
        });
        driver
            .with_options(limited(limits))
            .run(&mut session(&catalog(["x"])), "go")
            .await
            .unwrap()
            .outcome
    };
    assert_eq!(run(Some(price)).await, own(Resource::Cost, 3_000_000));
    assert_eq!(
        answer(&run(None).await),
        "done",
        "without a price, tokens cost nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_ends_a_request_and_a_call() {
    let limits = BudgetLimits {
        time: Some(Duration::from_secs(5)),
        ..BudgetLimits::default()
    };
    let waits = playing(|_| Box::pin(std::future::pending()));
    let start = tokio::time::Instant::now();
    let summary = waits
        .with_options(limited(limits))
        .run(&mut session(&catalog([])), "go")
        .await
        .unwrap();
    assert_eq!(
        (summary.outcome, start.elapsed()),
        (own(Resource::Time, 5000), Duration::from_secs(5))
    );

    // A provider with retries ends with an error at the deadline of its request.
    let gives_up = playing(|request| {
        Box::pin(async move {
            let Some(end) = request.deadline else {
                return std::future::pending().await;
            };
            tokio::time::sleep_until(end.into()).await;
            Err(ProviderError::NoPrompt)
        })
    });
    let summary = gives_up
        .with_options(limited(limits))
        .run(&mut session(&catalog([])), "go")
        .await
        .unwrap();
    assert_eq!(summary.outcome, own(Resource::Time, 5000));

    let start = tokio::time::Instant::now();
    let mut session = session(&misbehaving());
    let driver =
        scripted([calling(&["slow", "fine"]), Turn::answer("never")]).with_options(limited(limits));
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        (summary.outcome, start.elapsed()),
        (own(Resource::Time, 5000), Duration::from_secs(5))
    );
    let results = results(session.messages());
    assert_eq!(
        (kind(&results[0].1), results[1].1.to_text().as_str()),
        ("cancelled", "fine")
    );
}

/// A tool that runs a session of its own in the context of its call, as a sub-agent does.
fn delegating(turns: u64) -> Catalog {
    let mut catalog = catalog(["x"]);
    let delegate = move |cx: ToolContext, _: Value| async move {
        let mut inner = Session::new(crate::workshop::catalog(["x"]).list(), Selection::new(), cx);
        let script = (0..turns).map(|number| Turn {
            usage: Some(used(10, 0)),
            ..Turn::calls([ToolCall::new("", "x", json!({"number": number}))])
        });
        let summary = scripted(script.chain([Turn::answer("done")]))
            .run(&mut inner, "go")
            .await
            .unwrap();
        format!("{:?}", summary.outcome)
    };
    catalog.register(tool("delegate"), delegate).unwrap();
    catalog
}

#[tokio::test]
async fn a_run_within_a_call_shares_the_budget_of_the_run_that_made_the_call() {
    let run = async |limits| {
        let mut session = session(&delegating(5));
        let turns = [
            calling(&["delegate"]),
            calling(&["x"]),
            Turn::answer("done"),
        ];
        let summary = scripted(turns)
            .with_options(limited(limits))
            .run(&mut session, "go")
            .await
            .unwrap();
        (summary.outcome, results(session.messages())[0].1.to_text())
    };
    let (outcome, inner) = run(BudgetLimits {
        calls: Some(4),
        ..BudgetLimits::default()
    })
    .await;
    assert_eq!(outcome, own(Resource::Calls, 4));
    assert!(
        inner.contains("Calls") && inner.contains("Parent"),
        "{inner}"
    );
    let (outcome, inner) = run(BudgetLimits {
        tokens: Some(30),
        ..BudgetLimits::default()
    })
    .await;
    assert_eq!(outcome, own(Resource::Tokens, 30));
    assert!(
        inner.contains("Tokens") && inner.contains("Parent"),
        "{inner}"
    );
    let (outcome, inner) = run(BudgetLimits {
        steps: Some(20),
        calls: Some(20),
        ..BudgetLimits::default()
    })
    .await;
    assert!(
        matches!(outcome, Outcome::Answer { .. }) && inner.contains("done"),
        "{inner}"
    );
}

/// A window of steps that counts in memory, or has no counters.
struct Day {
    left: AtomicU64,
    tokens: AtomicU64,
    is_broken: bool,
}

impl BudgetWindow for Day {
    fn charge(&self, spending: Spending) -> WindowFuture<'_> {
        Box::pin(async move {
            if self.is_broken {
                return Err(BudgetError::Window {
                    reason: "no disk".to_owned(),
                });
            }
            let left = self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(spending.steps)
                });
            let scope = BudgetScope::Window("day".to_owned());
            left.map(drop).map_err(|_| {
                Exhausted {
                    resource: Resource::Steps,
                    limit: 3,
                    scope,
                }
                .into()
            })
        })
    }

    fn record(&self, spending: Spending) -> WindowFuture<'_> {
        self.tokens.fetch_add(spending.tokens, Ordering::Relaxed);
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn sessions_share_a_window() {
    let day = Arc::new(Day {
        left: AtomicU64::new(3),
        tokens: AtomicU64::new(0),
        is_broken: false,
    });
    let budget = Budget::from_window(day.clone());
    let run = async || {
        let cx = Host::new().with_service(budget.clone());
        let mut session = Session::new(catalog(["x"]).list(), Selection::new(), cx);
        let turns = [
            Turn {
                usage: Some(used(7, 0)),
                ..calling(&["x"])
            },
            Turn::answer("done"),
        ];
        scripted(turns)
            .run(&mut session, "go")
            .await
            .unwrap()
            .outcome
    };
    assert_eq!(answer(&run().await), "done");
    let scope = BudgetScope::Window("day".to_owned());
    assert_eq!(
        run().await,
        Outcome::Budget(Exhausted {
            resource: Resource::Steps,
            limit: 3,
            scope
        })
    );
    assert_eq!(day.tokens.load(Ordering::Relaxed), 14);
    assert_eq!(
        budget.spent(),
        Spending {
            steps: 3,
            calls: 2,
            tokens: 14,
            cost: Cost::default()
        },
        "a refused step is not counted"
    );
}

#[tokio::test]
async fn a_window_that_cannot_count_ends_the_run_with_an_error() {
    let day = Day {
        left: AtomicU64::new(3),
        tokens: AtomicU64::new(0),
        is_broken: true,
    };
    let cx = Host::new().with_service(Budget::from_window(Arc::new(day)));
    let mut session = Session::new(catalog([]).list(), Selection::new(), cx);
    let failed = scripted([Turn::answer("done")])
        .run(&mut session, "go")
        .await;
    assert!(
        matches!(failed, Err(DriverError::Budget(BudgetError::Window { .. }))),
        "{failed:?}"
    );
}

#[test]
fn a_time_limit_needs_a_runtime_with_timers() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let limits = BudgetLimits {
        time: Some(Duration::from_secs(5)),
        ..BudgetLimits::default()
    };
    let driver = scripted([Turn::answer("done")]).with_options(limited(limits));
    let failed = runtime.block_on(driver.run(&mut session(&catalog([])), "go"));
    assert!(matches!(failed, Err(DriverError::NoTimer)), "{failed:?}");
}
