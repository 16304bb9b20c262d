//! Calls that are repeated again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::workshop::{EventLog, answer, calling, catalog, results, scripted, session, tool};
use agent::{
    Event, Outcome, RepeatLimits, Repeated, RunOptions, Selection, Session, Summary, Turn,
};
use serde_json::{Value, json};
use tools::{Catalog, Effects, Grant, Host, ToolCall, ToolContext, ToolResult};

/// A catalog with the pure tool `look`, the tools `write`, `send` and `fail`, which have an effect, and the tools `poll` and `draw`,
/// whose results change. `draw` has an effect.
fn workshop() -> Catalog {
    let mut catalog = catalog(["look"]);
    let count = Arc::new(AtomicU32::new(0));
    let poll = move |_: ToolContext, _: Value| {
        let now = count.fetch_add(1, Ordering::Relaxed);
        async move { now.to_string() }
    };
    catalog.register(tool("poll"), poll.clone()).unwrap();
    let writing = |name| {
        tool(name)
            .with_effects(serde_json::from_value::<Effects>(json!({"writes": ["mem:a"]})).unwrap())
    };
    catalog
        .register(writing("write"), async |_: ToolContext, _: Value| {
            "written".to_owned()
        })
        .unwrap();
    catalog.register(writing("draw"), poll).unwrap();
    catalog
        .register(writing("send"), async |_: ToolContext, _: Value| {
            "sent".to_owned()
        })
        .unwrap();
    catalog
        .register(writing("fail"), async |_: ToolContext, _: Value| {
            Err::<String, _>("no luck")
        })
        .unwrap();
    catalog
}

fn writing_session(catalog: &Catalog) -> Session {
    let cx = Host::new().with_grant(Grant::new(["mem:write:**".parse().unwrap()]));
    Session::new(catalog.list(), Selection::new(), cx)
}

fn results_of(session: &Session) -> Vec<ToolResult> {
    results(session.messages())
        .into_iter()
        .map(|(_, result)| result)
        .collect()
}

async fn run_of(calls: &[&str], options: RunOptions) -> (Summary, Vec<ToolResult>) {
    let mut session = writing_session(&workshop());
    let turns = calls
        .iter()
        .map(|name| calling(&[name]))
        .chain([Turn::answer("done")]);
    let summary = scripted(turns)
        .with_options(options)
        .run(&mut session, "go")
        .await
        .unwrap();
    (summary, results_of(&session))
}

fn is_hinted(result: &ToolResult) -> bool {
    result
        .to_text()
        .contains("the same arguments and the same result")
}

#[tokio::test]
async fn a_repeated_call_is_answered_with_a_hint_and_then_ends_the_run() {
    let (summary, results) = run_of(&["look"; 9], RunOptions::default()).await;
    assert_eq!(
        summary.outcome,
        Outcome::Loop(Repeated {
            tool: "look".to_owned(),
            times: 5
        })
    );
    assert_eq!(
        results.iter().map(is_hinted).collect::<Vec<_>>(),
        [false, false, true, true, true]
    );
    assert!(
        results
            .iter()
            .all(|result| result.to_text().starts_with("look"))
    );
}

#[tokio::test]
async fn a_tool_whose_result_changes_may_be_polled() {
    let (summary, results) = run_of(&["poll"; 9], RunOptions::default()).await;
    assert_eq!(answer(&summary.outcome), "done");
    assert!(!results.iter().any(is_hinted));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_waits_for_a_change_does_not_end_the_run() {
    let mut catalog = catalog([]);
    let wait = async |_: ToolContext, _: Value| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        "still running"
    };
    catalog.register(tool("wait"), wait).unwrap();
    let mut session = session(&catalog);
    let turns = (0..9)
        .map(|_| calling(&["wait"]))
        .chain([Turn::answer("done")]);
    let summary = scripted(turns).run(&mut session, "go").await.unwrap();
    assert_eq!(answer(&summary.outcome), "done");
    let hints = results(session.messages())
        .iter()
        .filter(|(_, result)| is_hinted(result))
        .count();
    assert_eq!(hints, 7, "the model is told");
}

#[tokio::test]
async fn another_call_with_an_effect_starts_the_count_anew() {
    let (summary, results) = run_of(
        &["look", "look", "write", "look", "look", "poll", "look"],
        RunOptions::default(),
    )
    .await;
    assert_eq!(answer(&summary.outcome), "done");
    assert_eq!(
        results.iter().map(is_hinted).collect::<Vec<_>>(),
        [false, false, false, false, false, false, true]
    );

    let circle = ["look", "fail"].repeat(5);
    let (summary, _) = run_of(&circle, RunOptions::default()).await;
    assert_eq!(
        summary.outcome,
        Outcome::Loop(Repeated {
            tool: "look".to_owned(),
            times: 5
        }),
        "a failure has no effect"
    );
    let (summary, _) = run_of(&["write"; 9], RunOptions::default()).await;
    assert_eq!(
        summary.outcome,
        Outcome::Loop(Repeated {
            tool: "write".to_owned(),
            times: 5
        })
    );
}

/// Two or three calls with effects that alternate change as little as one that is repeated.
#[tokio::test]
async fn calls_with_effects_that_alternate_without_a_change_are_a_loop() {
    for circle in [
        &["write", "send"][..],
        &["write", "look", "send"],
        &["look", "write", "look", "send"],
    ] {
        let (summary, results) = run_of(&circle.repeat(12), RunOptions::default()).await;
        let Outcome::Loop(repeated) = &summary.outcome else {
            panic!("{circle:?}: {summary:?}")
        };
        assert!(
            repeated.times == 5 && summary.steps as usize <= 6 * circle.len(),
            "{circle:?}: {summary:?}"
        );
        assert!(results.iter().any(is_hinted));
    }
}

#[tokio::test]
async fn a_circle_with_a_new_call_or_a_changed_result_is_no_loop() {
    let polling = ["send", "draw"].repeat(9);
    let (summary, results) = run_of(&polling, RunOptions::default()).await;
    assert_eq!(answer(&summary.outcome), "done");
    assert!(!results.iter().any(is_hinted));

    // Each edit is another one, and the check after it has the same result.
    let edit = |number: usize| Turn::calls([ToolCall::new("e", "write", json!({"text": number}))]);
    let turns = (0..9).flat_map(|number| [edit(number), calling(&["send"]), calling(&["look"])]);
    let mut session = writing_session(&workshop());
    let summary = scripted(turns.chain([Turn::answer("done")]))
        .run(&mut session, "go")
        .await
        .unwrap();
    assert_eq!(answer(&summary.outcome), "done");
    assert!(!results_of(&session).iter().any(is_hinted));
}

/// A check of a state, and a wait between two checks.
#[tokio::test(start_paused = true)]
async fn a_wait_between_equal_calls_is_no_loop() {
    let mut catalog = workshop();
    let wait = async |_: ToolContext, _: Value| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        "waited"
    };
    catalog.register(tool("wait"), wait).unwrap();
    for check in ["look", "send"] {
        let turns = (0..9)
            .flat_map(|_| [calling(&[check]), calling(&["wait"])])
            .chain([Turn::answer("done")]);
        let mut session = writing_session(&catalog);
        let summary = scripted(turns).run(&mut session, "go").await.unwrap();
        assert_eq!(answer(&summary.outcome), "done", "{check}");
    }
}

#[tokio::test]
async fn the_numbers_are_settings() {
    let options = |hint, end| RunOptions {
        repeats: RepeatLimits { hint, end },
        ..RunOptions::default()
    };
    let (summary, results) = run_of(&["look"; 4], options(None, Some(2))).await;
    assert_eq!((summary.steps, results.iter().any(is_hinted)), (2, false));
    let (summary, results) = run_of(&["look"; 9], options(Some(2), None)).await;
    assert_eq!(answer(&summary.outcome), "done");
    assert_eq!(results.iter().filter(|result| is_hinted(result)).count(), 8);
}

#[tokio::test]
async fn equal_calls_of_one_turn_and_calls_of_other_runs_are_no_loop() {
    let driver = scripted([calling(&["x"; 6]), calling(&["x"; 6]), Turn::answer("done")]);
    let mut session = session(&catalog(["x"]));
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(answer(&summary.outcome), "done");
    let ask = || [calling(&["x"]), calling(&["x"]), Turn::answer("done")];
    let driver = scripted(
        [calling(&["x"; 6]), calling(&["x"; 6]), Turn::answer("done")]
            .into_iter()
            .chain(ask())
            .chain(ask()),
    );
    for _ in 0..2 {
        driver.run(&mut session, "again").await.unwrap();
    }
    assert!(
        !results(session.messages())
            .iter()
            .any(|(_, result)| is_hinted(result))
    );
}

/// The model and the host see the same results, also of calls that were never run.
#[tokio::test]
async fn a_malformed_call_that_is_repeated_is_a_loop_too() {
    let log = EventLog::default();
    let broken = || calling(&["x"]).with_fault(0, "no JSON");
    let mut session = session(&catalog(["x"]));
    let driver = scripted(std::iter::repeat_with(broken).take(9)).with_events(log.clone());
    let summary = driver.run(&mut session, "go").await.unwrap();
    assert_eq!(
        summary.outcome,
        Outcome::Loop(Repeated {
            tool: "x".to_owned(),
            times: 5
        })
    );
    let told: Vec<_> = results(session.messages())
        .iter()
        .map(|(_, result)| result.to_text())
        .collect();
    assert_eq!(
        told.iter().filter(|text| text.contains("no JSON")).count(),
        5
    );
    assert!(told[2].contains("the same result"), "{told:?}");
    let text = |event| {
        if let Event::Result { result, .. } = event {
            Some(result.to_text())
        } else {
            None
        }
    };
    assert_eq!(
        log.events()
            .into_iter()
            .filter_map(text)
            .collect::<Vec<_>>(),
        told
    );
}

/// A model reads the text of a result, and its structure only without a text.
#[tokio::test]
async fn a_hint_does_not_hide_a_structured_result() {
    let mut catalog = Catalog::new();
    catalog
        .register(
            tool("x"),
            async |_: ToolContext, _: Value| json!({"size": 7}),
        )
        .unwrap();
    let mut session = session(&catalog);
    let turns =
        (0..3).map(|number| Turn::calls([ToolCall::new(number.to_string(), "x", json!({}))]));
    scripted(turns.chain([Turn::answer("done")]))
        .run(&mut session, "go")
        .await
        .unwrap();
    let last = results(session.messages()).pop().unwrap().1;
    assert!(is_hinted(&last) && last.to_text().contains("7"), "{last:?}");
}
