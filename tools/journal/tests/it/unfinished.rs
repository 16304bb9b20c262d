//! Refused and cancelled calls each have a row.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::crib::{Crib, calling, context, driver, sends, tool};
use agent::{Driver, Outcome, Run, Selection, Session, Turn};
use serde_json::{Value, json};
use tools::{CancellationToken, Catalog, ToolContext};

/// Registers a tool whose first call hangs until it is cancelled. Later calls answer.
fn hanging(catalog: &mut Catalog, name: &str, effects: Value) -> Arc<AtomicU32> {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let hang = move |_: ToolContext, _: Value| {
        let run = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if run == 0 {
                std::future::pending().await
            } else {
                "done".to_owned()
            }
        }
    };
    catalog.register(tool(name, effects), hang).unwrap();
    runs
}

fn session(catalog: &Catalog, crib: &Crib) -> Session {
    Session::new(catalog.list(), Selection::new(), context(&crib.journal()))
}

/// Returns tool, kind and error of each row, sorted.
fn rows(crib: &Crib) -> Vec<(String, String, Option<String>)> {
    let mut rows: Vec<_> = crib
        .entries()
        .into_iter()
        .map(|entry| (entry.tool.to_string(), entry.kind.to_string(), entry.error))
        .collect();
    rows.sort();
    rows
}

fn row(tool: &str, kind: &str, error: Option<&str>) -> (String, String, Option<String>) {
    (tool.to_owned(), kind.to_owned(), error.map(str::to_owned))
}

/// Cancels a run once the condition holds.
async fn cancelled_when(session: &mut Session, driver: Driver, is_so: impl Fn() -> bool) {
    let token = CancellationToken::new();
    let driver = driver.with_cancellation(token.clone());
    let cancel = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        token.cancel();
    };
    let (summary, ()) = tokio::join!(driver.run(session, "go"), cancel);
    assert_eq!(summary.unwrap().outcome, Outcome::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_has_an_outcome_that_says_so() {
    let (crib, mut catalog) = (Crib::new(), Catalog::new());
    let sent = hanging(&mut catalog, "send", sends());
    let looks = hanging(&mut catalog, "look", json!("pure"));
    // The second call of `send` is queued behind the first.
    let turns = [calling(&["send", "look", "send"])];
    let begun = || sent.load(Ordering::SeqCst) + looks.load(Ordering::SeqCst) == 2;
    cancelled_when(&mut session(&catalog, &crib), driver(turns), begun).await;
    let cancelled = Some("cancelled");
    assert_eq!(
        rows(&crib),
        [
            row("look", "intent", None),
            row("look", "outcome", cancelled),
            row("send", "intent", None),
            row("send", "outcome", cancelled),
            row("send", "refusal", cancelled),
        ]
    );
    crib.head();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_outcome_of_a_cancelled_call_is_unknown_to_a_resumed_run() {
    let (crib, mut catalog) = (Crib::new(), Catalog::new());
    let sent = hanging(&mut catalog, "send", sends());
    let looks = hanging(&mut catalog, "look", json!("pure"));
    let begun = || sent.load(Ordering::SeqCst) + looks.load(Ordering::SeqCst) == 2;
    cancelled_when(
        &mut session(&catalog, &crib),
        driver([calling(&["send", "look"])]),
        begun,
    )
    .await;

    let mut resumed = session(&catalog, &crib);
    let run: Run = resumed.stored_run().await.unwrap().unwrap();
    driver([calling(&["send", "look"]), Turn::answer("well")])
        .resume(&mut resumed, run)
        .await
        .unwrap();
    assert_eq!(
        (sent.load(Ordering::SeqCst), looks.load(Ordering::SeqCst)),
        (1, 2),
        "a write is not run twice"
    );
    let messages: Vec<_> = resumed
        .messages()
        .iter()
        .map(|message| format!("{message:?}"))
        .collect();
    assert!(
        messages
            .iter()
            .any(|message| message.contains("outcome_unknown") && message.contains("done")),
        "{messages:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_cut_off_has_a_refusal() {
    let (crib, mut catalog) = (Crib::new(), Catalog::new());
    let sent = hanging(&mut catalog, "send", sends());
    let turns = [
        calling(&["send"]).with_fault(0, "it was cut off"),
        Turn::answer("well"),
    ];
    let mut session = session(&catalog, &crib);
    driver(turns).run(&mut session, "go").await.unwrap();
    assert_eq!(sent.load(Ordering::SeqCst), 0);
    assert_eq!(rows(&crib), [row("send", "refusal", Some("refused"))]);
    let entry = crib.entries().remove(0);
    assert_eq!(
        (entry.turn, entry.index, entry.call_id.as_deref()),
        (Some(1), Some(0), Some("c0"))
    );
    assert!(format!("{:?}", session.messages()).contains("it was cut off"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_has_no_thread_left_has_a_refusal() {
    struct Release(Arc<AtomicBool>);
    impl Drop for Release {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (crib, mut catalog) = (Crib::new(), Catalog::new());
    hanging(&mut catalog, "look", json!("pure"));
    let release = Release(Arc::default());
    let is_released = release.0.clone();
    let spins = move |_: ToolContext, _: Value| {
        let is_released = is_released.clone();
        async move {
            while !is_released.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
            }
            String::new()
        }
    };
    catalog
        .register(tool("spins", json!("pure")), spins)
        .unwrap();
    let cx = context(&crib.journal()).with_timeout(Duration::from_millis(50));
    let mut session = Session::new(catalog.list(), Selection::new(), cx);
    driver([calling(&["spins"]), calling(&["look"]), Turn::answer("")])
        .run(&mut session, "go")
        .await
        .unwrap();
    assert_eq!(
        rows(&crib),
        [
            row("look", "refusal", Some("unavailable")),
            row("spins", "intent", None)
        ],
        "the outcome of the spinning call is unknown"
    );
}
