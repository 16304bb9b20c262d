//! Tools that do not yield, against a runtime with few threads: the run goes on, and the runtime keeps a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::workshop::{EventLog, add, answer, calling, kind, results, scripted, tool};
use agent::{Driver, Event, Outcome, Selection, Session, Turn};
use serde_json::Value;
use tokio::runtime::Handle;
use tools::context::ApprovalFuture;
use tools::{
    Approval, Approver, CancellationToken, Catalog, Decision, Effects, Host, ToolContext,
    ToolResult,
};

const SHORT: Duration = Duration::from_millis(50);

/// Fails if the future hangs. Uses its own clock, because the runtime's timers are under test.
async fn soon<F: Future>(future: F) -> F::Output {
    let (bell, rung) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(30));
        bell.send(())
    });
    let (mut future, mut rung) = (std::pin::pin!(future), rung);
    std::future::poll_fn(|task| {
        assert!(
            std::pin::Pin::new(&mut rung).poll(task).is_pending(),
            "this hangs"
        );
        future.as_mut().poll(task)
    })
    .await
}

/// Releases tools that do not yield, at the latest on drop, because their runtime waits for them.
#[derive(Default)]
struct Release(Arc<AtomicBool>);

impl Release {
    fn let_go(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        self.let_go();
    }
}

/// A catalog of `fine` and of `spins`, which does not yield until it is released.
fn spinning(release: &Release) -> Catalog {
    let mut catalog = Catalog::new();
    add(&mut catalog, "fine");
    // The second tool blocks the worker that drives the runtime's timers.
    for (name, pause) in [
        ("spins", None),
        ("waits_and_spins", Some(Duration::from_millis(5))),
    ] {
        let is_released = release.0.clone();
        let spins = move |_: ToolContext, _: Value| {
            let is_released = is_released.clone();
            async move {
                if let Some(pause) = pause {
                    tokio::time::sleep(pause).await;
                }
                hold(&is_released);
                "late".to_owned()
            }
        };
        catalog.register(tool(name), spins).unwrap();
    }
    catalog
}

fn hold(is_released: &AtomicBool) {
    while !is_released.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn impatient(catalog: &Catalog) -> Session {
    Session::new(
        catalog.list(),
        Selection::new(),
        Host::new().with_timeout(SHORT),
    )
}

fn kinds(session: &Session) -> Vec<String> {
    results(session.messages())
        .iter()
        .map(|(_, result)| kind(result).to_owned())
        .collect()
}

/// Returns the number of abandoned calls in each event.
fn abandoned(log: &EventLog) -> Vec<usize> {
    let abandoned = |event| {
        if let Event::Abandoned { abandoned, .. } = event {
            Some(abandoned)
        } else {
            None
        }
    };
    log.events().into_iter().filter_map(abandoned).collect()
}

/// Waits until all tasks of calls are gone.
async fn all_gone(others: usize) {
    while Handle::current().metrics().num_alive_tasks() > others {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_never_yields_ends_at_its_deadline_and_the_run_goes_on() {
    for name in ["spins", "waits_and_spins"] {
        let (release, log) = (Release::default(), EventLog::default());
        let mut session = impatient(&spinning(&release));
        let driver = scripted([calling(&[name]), Turn::answer("well")]).with_events(log.clone());
        let summary = soon(driver.run(&mut session, "go")).await.unwrap();
        assert_eq!(
            (answer(&summary.outcome), summary.failed_calls),
            ("well", 1)
        );
        assert_eq!(kinds(&session), ["timeout"]);
        assert_eq!(abandoned(&log), [1]);

        let sent = log.events();
        release.let_go();
        soon(all_gone(0)).await;
        assert_eq!(log.events(), sent, "a late result is dropped");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_in_a_task_is_no_worse_off() {
    let release = Release::default();
    let catalog = spinning(&release);
    let run = tokio::spawn(async move {
        let mut session = impatient(&catalog);
        let driver = scripted([calling(&["spins", "waits_and_spins"]), Turn::answer("well")]);
        let summary = driver.run(&mut session, "go").await.unwrap();
        (answer(&summary.outcome).to_owned(), summary.failed_calls)
    });
    assert_eq!(soon(run).await.unwrap(), ("well".to_owned(), 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn however_many_tools_never_yield_the_runtime_keeps_a_thread_and_gets_the_others_back() {
    let (release, log) = (Release::default(), EventLog::default());
    let catalog = spinning(&release);
    let mut session = impatient(&catalog);
    let turns = [
        calling(&["spins"; 5]),
        calling(&["fine", "spins"]),
        Turn::answer("well"),
    ];
    let summary = soon(
        scripted(turns)
            .with_events(log.clone())
            .run(&mut session, "go"),
    )
    .await
    .unwrap();
    assert_eq!(
        (answer(&summary.outcome), summary.failed_calls),
        ("well", 7)
    );
    assert_eq!(abandoned(&log), [1, 2], "two of three workers may be held");
    let count = |wanted: &str| {
        kinds(&session)
            .iter()
            .filter(|kind| *kind == wanted)
            .count()
    };
    assert_eq!((count("timeout"), count("unavailable")), (2, 5));
    let refusal = &results(session.messages())[5].1;
    assert!(
        refusal.to_text().contains("restart the program"),
        "{}",
        refusal.to_text()
    );

    // The free worker runs all other tasks and timers.
    let other = async { tokio::time::sleep(SHORT).await };
    soon(tokio::spawn(other)).await.unwrap();

    release.let_go();
    soon(all_gone(0)).await;
    let mut session = impatient(&catalog);
    let summary = scripted([calling(&["fine", "spins"]), Turn::answer("done")])
        .run(&mut session, "go")
        .await
        .unwrap();
    assert_eq!(summary.failed_calls, 0, "{:?}", kinds(&session));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_for_its_turn_ends_at_its_deadline_too() {
    let release = Release::default();
    let mut catalog = spinning(&release);
    let begun = Arc::new(AtomicUsize::new(0));
    let counts = begun.clone();
    let yields = move |_: ToolContext, _: Value| {
        counts.fetch_add(1, Ordering::Relaxed);
        async {
            loop {
                tokio::task::yield_now().await;
            }
            #[allow(unreachable_code, reason = "what a tool gives needs a type")]
            String::new()
        }
    };
    catalog.register(tool("yields"), yields).unwrap();
    // A call that has not begun when the last worker is lost is refused.
    let is_released = release.0.clone();
    let spins_last = move |_: ToolContext, _: Value| {
        let (is_released, begun) = (is_released.clone(), begun.clone());
        async move {
            while begun.load(Ordering::Relaxed) < 2 {
                tokio::task::yield_now().await;
            }
            hold(&is_released);
            "late".to_owned()
        }
    };
    catalog.register(tool("spins_last"), spins_last).unwrap();
    // Long enough for all three to begin on a busy machine.
    let cx = Host::new().with_timeout(Duration::from_secs(1));
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    let driver = scripted([
        calling(&["yields", "spins_last", "yields"]),
        Turn::answer("well"),
    ]);
    soon(driver.run(&mut session, "go")).await.unwrap();
    assert_eq!(kinds(&session), ["timeout", "timeout", "timeout"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_run_reports_abandoned_calls() {
    let (release, log, token) = (
        Release::default(),
        EventLog::default(),
        CancellationToken::new(),
    );
    let mut session = Session::new(spinning(&release).list(), Selection::new(), Host::new());
    let driver = scripted([calling(&["spins"])])
        .with_events(log.clone())
        .with_cancellation(token.clone());
    let cancel = async {
        // Until it is in its task.
        while Handle::current().metrics().num_alive_tasks() == 0 {
            tokio::task::yield_now().await;
        }
        std::thread::sleep(SHORT);
        token.cancel();
    };
    let (summary, ()) = soon(async { tokio::join!(driver.run(&mut session, "go"), cancel) }).await;
    assert_eq!(summary.unwrap().outcome, Outcome::Cancelled);
    assert_eq!(
        (kinds(&session), abandoned(&log)),
        (vec!["cancelled".to_owned()], vec![1])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_of_an_overdue_call_is_cancelled() {
    let mut catalog = Catalog::new();
    let looks = async |cx: ToolContext, _: Value| {
        while cx.check_cancelled().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        "stopped".to_owned()
    };
    catalog.register(tool("looks"), looks).unwrap();
    let mut session = impatient(&catalog);
    soon(scripted([calling(&["looks"]), Turn::answer("done")]).run(&mut session, "go"))
        .await
        .unwrap();
    assert_eq!(kinds(&session), ["timeout"]);
    soon(all_gone(0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_an_approval_is_not_the_calls_even_if_who_approves_blocks_the_thread() {
    struct Slow;
    impl Approver for Slow {
        fn approve<'a>(&'a self, _approval: Approval<'a>) -> ApprovalFuture<'a> {
            // Longer than the call may take, and the second after it.
            std::thread::sleep(Duration::from_millis(1300));
            Box::pin(async { Decision::Allow })
        }
    }
    let mut catalog = Catalog::new();
    let writes = tool("writes").with_effects(Effects::Undeclared);
    catalog
        .register(writes, async |_: ToolContext, _: Value| {
            "written".to_owned()
        })
        .unwrap();
    let cx = Host::new()
        .with_timeout(SHORT)
        .with_approver(Arc::new(Slow));
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    soon(scripted([calling(&["writes"]), Turn::answer("done")]).run(&mut session, "go"))
        .await
        .unwrap();
    assert_eq!(
        results(session.messages())[0].1,
        ToolResult::text("written")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_of_a_turn_take_turns() {
    let mut catalog = Catalog::new();
    let busy = async |_: ToolContext, _: Value| {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        "done".to_owned()
    };
    catalog.register(tool("busy"), busy).unwrap();
    let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
    let calls =
        (0..1000).map(|id| tools::ToolCall::new(format!("c{id}"), "busy", serde_json::json!({})));
    let driver = Driver::new(Arc::new(agent::Scripted::new([
        Turn::calls(calls),
        Turn::answer("done"),
    ])));
    let summary = soon(driver.run(&mut session, "go")).await.unwrap();
    assert_eq!((summary.calls, summary.failed_calls), (1000, 0));
    soon(all_gone(0)).await;
}
