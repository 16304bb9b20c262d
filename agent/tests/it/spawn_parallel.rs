//! Sub-agents side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent::{BudgetLimits, Event, Outcome, RunOptions, Turn};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tools::{CancellationToken, ToolCall, ToolContext};

use crate::notebook::Notebook;
use crate::spawn::{catalog, context, delegated, lead, session, spawning};
use crate::workshop::{EventLog, tool};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_sub_agents_work_side_by_side() {
    let mut catalog = catalog();
    let barrier = Arc::new(Barrier::new(50));
    let meet = move |_: ToolContext, _: Value| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            "met"
        }
    };
    catalog.register(tool("meet"), meet).unwrap();
    let calls = (0..50)
        .map(|n| {
            spawning(
                &format!("s{n}"),
                json!({"name": format!("n{n}"), "task": "meet"}),
            )
        })
        .collect();
    let driver = lead(calls, |_, number| match number {
        0 => Turn::calls([ToolCall::new("c", "meet", json!({}))]),
        _ => Turn::answer("we met"),
    });
    let driver = driver.with_options(RunOptions {
        limits: BudgetLimits {
            steps: Some(102),
            ..BudgetLimits::default()
        },
        ..RunOptions::default()
    });
    let results = delegated(&mut session(&catalog, context()), driver).await;
    assert_eq!(results.len(), 50);
    assert!(
        results
            .iter()
            .all(|result| !result.is_error && result.to_text().starts_with("we met")),
        "{results:?}"
    );
    assert_eq!(catalog.admission().running(), 0);
}

/// A call that is alive until this is dropped.
struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancelled_agent_leaves_no_sub_agent_behind() {
    const AGENTS: usize = 50;
    for is_recorded in [false, true] {
        let mut catalog = catalog();
        let alive = Arc::new(AtomicUsize::new(0));
        let (count, token) = (alive.clone(), CancellationToken::new());
        let stop = token.clone();
        let wait = move |_: ToolContext, _: Value| {
            let (count, stop) = (count.clone(), stop.clone());
            async move {
                let begun = count.fetch_add(1, Ordering::SeqCst) + 1;
                let _alive = Alive(count);
                if begun == AGENTS {
                    stop.cancel();
                }
                std::future::pending::<String>().await
            }
        };
        catalog.register(tool("wait"), wait).unwrap();
        // Half of the calls are made by sub-agents of sub-agents.
        let calls = (0..AGENTS).map(|n| {
            let task = if n % 2 == 0 { "wait" } else { "delegate" };
            spawning(
                &format!("s{n}"),
                json!({"name": format!("n{n}"), "task": task}),
            )
        });
        let calls: Vec<_> = calls.collect();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        let driver = lead(calls, move |task, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            match task {
                "delegate" => Turn::calls([spawning("d", json!({"name": "deep", "task": "wait"}))]),
                _ => Turn::calls([ToolCall::new("c", "wait", json!({}))]),
            }
        });
        let log = EventLog::default();
        let options = RunOptions {
            limits: BudgetLimits {
                steps: Some(2 * AGENTS as u64),
                ..BudgetLimits::default()
            },
            ..RunOptions::default()
        };
        let driver = driver
            .with_options(options)
            .with_cancellation(token)
            .with_events(log.clone());
        let cx = if is_recorded {
            context()
                .with_journal(Arc::new(Notebook::default()))
                .with_session("s")
        } else {
            context()
        };
        let mut session = session(&catalog, cx);
        let summary = driver.run(&mut session, "lead").await.unwrap();
        assert_eq!(summary.outcome, Outcome::Cancelled);
        let (sent, asked) = (log.events().len(), requests.load(Ordering::SeqCst));
        assert!(matches!(log.events().last(), Some(Event::Done(_))));
        // The runtime drops the tasks of the calls soon after, and ends the polls that the cancellation interrupted.
        let is_left = || {
            alive.load(Ordering::SeqCst) > 0
                || catalog.admission().running() > 0
                || agent::abandoned_calls() > 0
        };
        let gone = async {
            while is_left() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone)
            .await
            .unwrap();
        assert_eq!(
            (log.events().len(), requests.load(Ordering::SeqCst)),
            (sent, asked),
            "nothing goes on"
        );
    }
}
