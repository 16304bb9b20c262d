//! The budgets of runs that another process continues.

use std::sync::{Arc, Mutex};

use agent::{
    Budget, BudgetLimits, BudgetWindow, Driver, Event, Outcome, ProviderError, Resource,
    RunOptions, Selection, Session, Spending, Summary, Turn, Usage, WindowFuture,
};
use serde_json::json;
use tools::{CancellationToken, Host, ToolCall};

use crate::notebook::Notebook;
use crate::spawn::{agents, catalog, context, session, spawning, task, turns};
use crate::workshop::{answer, calling, playing, scripted};

/// Resumes the session of this name from the journal.
async fn resume(driver: Driver, mut session: Session) -> Summary {
    let run = session.stored_run().await.unwrap().unwrap();
    driver.resume(&mut session, run).await.unwrap()
}

#[tokio::test]
async fn a_resumed_run_has_used_the_tokens_of_its_sub_agents() {
    let notebook = Notebook::default();
    let open = || {
        session(
            &catalog(),
            context()
                .with_journal(Arc::new(notebook.clone()))
                .with_session("monday"),
        )
    };
    let driver = |tokens| {
        let driver = agents(|task, turns| match (task, turns) {
            ("lead", 0) => Turn::calls([spawning("a", json!({"name": "n", "task": "work"}))]),
            ("lead", _) => Turn::answer("finished"),
            _ => Turn {
                usage: Some(Usage {
                    input_tokens: 5000,
                    ..Usage::default()
                }),
                ..Turn::answer("worked")
            },
        });
        driver
            .with_options(RunOptions {
                limits: BudgetLimits {
                    tokens: Some(tokens),
                    ..BudgetLimits::default()
                },
                ..RunOptions::default()
            })
            .with_checkpoints(true)
    };
    let is_used_up = |summary: &Summary| matches!(&summary.outcome, Outcome::Budget(used) if used.resource == Resource::Tokens);
    assert!(is_used_up(
        &driver(5000).run(&mut open(), "lead").await.unwrap()
    ));
    let again = resume(driver(5000), open()).await;
    assert!(is_used_up(&again), "{again:?}");
    assert_eq!(
        answer(&resume(driver(9000), open()).await.outcome),
        "finished"
    );
}

/// An end of a run before its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// The process ends during the request after the sub-agent's call.
    Crash,
    /// The request after the sub-agent's call fails.
    Failure,
    /// The run is cancelled during the request after the call.
    Cancellation,
    /// The run is cancelled while the sub-agent works.
    CancelledCall,
}

#[tokio::test]
async fn a_run_that_was_cut_off_has_used_the_tokens_of_its_sub_agents() {
    for cut in [
        Cut::Crash,
        Cut::Failure,
        Cut::Cancellation,
        Cut::CancelledCall,
    ] {
        let notebook = Notebook::default();
        let open = || {
            session(
                &catalog(),
                context()
                    .with_journal(Arc::new(notebook.clone()))
                    .with_session("monday"),
            )
        };
        let (token, crash) = (CancellationToken::new(), CancellationToken::new());
        let ends = [token.clone(), crash.clone()];
        let driver = playing(move |request| {
            let (task, turns, [token, crash]) = (task(&request), turns(&request), ends.clone());
            Box::pin(async move {
                match (task.as_str(), turns) {
                    ("lead", 0) => {
                        return Ok(Turn::calls([spawning(
                            "a",
                            json!({"name": "n", "task": "work"}),
                        )]));
                    }
                    (_, 0) => {
                        let turn = Turn::calls([ToolCall::new("c", "todo.read", json!({}))]);
                        let usage = Some(Usage {
                            input_tokens: 5000,
                            ..Usage::default()
                        });
                        return Ok(Turn { usage, ..turn });
                    }
                    ("work", _) if cut != Cut::CancelledCall => return Ok(Turn::answer("worked")),
                    _ => {}
                }
                match cut {
                    Cut::Crash => crash.cancel(),
                    Cut::Failure => return Err(ProviderError::NoPrompt),
                    Cut::Cancellation | Cut::CancelledCall => token.cancel(),
                }
                std::future::pending().await
            })
        });
        let driver = driver.with_cancellation(token).with_checkpoints(true);
        let ended = crash
            .run_until_cancelled(driver.run(&mut open(), "lead"))
            .await;
        assert_eq!(
            (ended.is_none(), matches!(ended, Some(Err(_)))),
            (cut == Cut::Crash, cut == Cut::Failure)
        );
        let limits = RunOptions {
            limits: BudgetLimits {
                tokens: Some(9000),
                ..BudgetLimits::default()
            },
            ..RunOptions::default()
        };
        let answers =
            scripted([Turn::answer("the turn before"), Turn::answer("done")]).with_options(limits);
        let ended = resume(answers, open()).await;
        assert_eq!(answer(&ended.outcome), "done");
        // Two steps of the sub-agent, and two of the lead: a request that is made again counts once.
        assert_eq!(
            (ended.spent.steps, ended.spent.tokens),
            (4, 5000),
            "{cut:?}"
        );
    }
}

/// A window that counts.
#[derive(Default)]
struct Counter(Mutex<Spending>);

impl BudgetWindow for Counter {
    fn charge(&self, spending: Spending) -> WindowFuture<'_> {
        self.record(spending)
    }

    fn record(&self, spending: Spending) -> WindowFuture<'_> {
        let mut spent = self.0.lock().unwrap();
        *spent = spent.saturating_add(spending);
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn a_call_that_is_resumed_is_charged_once() {
    let (notebook, day) = (Notebook::default(), Arc::new(Counter::default()));
    let budget = Budget::from_window(day.clone());
    let open = || {
        let cx = Host::new()
            .with_journal(Arc::new(notebook.clone()))
            .with_session("monday");
        Session::new(
            crate::workshop::catalog(["x", "y"]).list(),
            Selection::new(),
            cx.with_service(budget.clone()),
        )
    };
    let driver = || {
        let driver = scripted([calling(&["x", "y"]), Turn::answer("done")]).with_checkpoints(true);
        driver.with_options(RunOptions {
            limits: BudgetLimits {
                calls: Some(2),
                ..BudgetLimits::default()
            },
            ..RunOptions::default()
        })
    };
    let token = CancellationToken::new();
    let stop = token.clone();
    let ends = move |event: Event| {
        if matches!(event, Event::CallStarted { .. }) {
            stop.cancel();
        }
    };
    let ended = driver()
        .with_cancellation(token)
        .with_events(ends)
        .run(&mut open(), "go")
        .await
        .unwrap();
    assert_eq!(ended.outcome, Outcome::Cancelled);
    assert_eq!(answer(&resume(driver(), open()).await.outcome), "done");
    assert_eq!(day.0.lock().unwrap().calls, 2);
}
