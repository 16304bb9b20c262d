//! Resuming a session whose process ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::crib::{Crib, Workshop, calling, context, driver, sends, tool};
use agent::{
    Direct, Driver, DriverError, Outcome, ProviderError, Run, Selection, Session, Step, Turn,
};
use serde_json::{Value, json};
use tools::journal::Checkpoint;
use tools::protocol::Part;
use tools::{ErrorCode, Journal, ToolCall, ToolContext, ToolResult};
use tools_journal::SqliteJournal;

/// A session with the tools of the workshop and one that never ends.
fn session(workshop: &mut Workshop, journal: &SqliteJournal) -> Session {
    if !workshop.catalog.contains("hang") {
        let hang = async |_: ToolContext, _: Value| -> String { std::future::pending().await };
        workshop
            .catalog
            .register(tool("hang", sends()), hang)
            .unwrap();
    }
    Session::new(workshop.catalog.list(), Selection::new(), context(journal))
}

/// A session as another process would resume it, and the stored run.
async fn stored(workshop: &mut Workshop, journal: &SqliteJournal) -> (Session, Run) {
    let session = session(workshop, journal);
    let run = session.stored_run().await.unwrap().unwrap();
    (session, run)
}

/// A run of one step, and its state in the format of file version 1.
async fn one_step(workshop: &mut Workshop, crib: &Crib) -> (Run, String) {
    let one = driver([calling(&["send"])]).with_max_steps(1);
    one.run(&mut session(workshop, &crib.journal()), "go")
        .await
        .unwrap();
    let run = stored(workshop, &crib.journal()).await.1;
    let state = serde_json::to_string(&run).unwrap().replace('\'', "''");
    (run, state)
}

fn results(session: &Session) -> Vec<ToolResult> {
    let parts = session
        .messages()
        .iter()
        .flat_map(|message| message.parts.clone());
    let result = |part| match part {
        Part::ToolResult { result, .. } => Some(result),
        _ => None,
    };
    parts.filter_map(result).collect()
}

/// Drives a run until the given number of outcomes and one more intent are recorded, then drops it, as if the process had ended.
async fn broken_off(driver: &Driver, session: &mut Session, crib: &Crib, outcomes: usize) {
    let recorded = |kind| {
        crib.entries()
            .iter()
            .filter(|entry| entry.kind == kind)
            .count()
    };
    let ended = async {
        while recorded("outcome") < outcomes || recorded("intent") <= outcomes {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        summary = driver.run(session, "go") => panic!("{summary:?}"),
        () = ended => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn finished_calls_are_replayed_and_unknown_outcomes_are_reported() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let mut first = session(&mut workshop, &crib.journal());
    broken_off(
        &driver([calling(&["send"]), calling(&["send", "hang", "think"])]),
        &mut first,
        &crib,
        3,
    )
    .await;
    assert_eq!(workshop.runs(), (2, 1));

    let (mut second, run) = stored(&mut workshop, &crib.journal()).await;
    assert!(matches!(run.step(), Step::Call(calls) if calls.len() == 3));
    assert_eq!(run.turns(), 2);
    let turns = [
        calling(&["send"]),
        calling(&["send", "hang", "think"]),
        Turn::answer("well"),
    ];
    let summary = driver(turns).resume(&mut second, run).await.unwrap();
    assert!(
        matches!(&summary.outcome, Outcome::Answer { text, .. } if text == "well"),
        "{summary:?}"
    );
    assert_eq!(workshop.runs(), (2, 1), "nothing is run twice");

    let results = results(&second);
    let runs: Vec<_> = results
        .iter()
        .map(|result| result.structured.as_ref().unwrap()["run"].clone())
        .collect();
    assert_eq!(runs, [json!(1), json!(2), Value::Null, json!(1)]);
    assert_eq!(
        results[2].structured.as_ref().unwrap()["error"]["kind"],
        "outcome_unknown"
    );
    crib.head();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_call_is_run_again_if_its_effects_allow_it() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let mut first = session(&mut workshop, &journal);
    broken_off(&driver([calling(&["think", "hang"])]), &mut first, &crib, 1).await;
    // As if the process had ended between the call and its outcome.
    crib.tamper("DELETE FROM entry WHERE kind = 'outcome'");
    let (mut second, run) = stored(&mut workshop, &journal).await;
    driver([calling(&["think", "hang"]), Turn::answer("well")])
        .resume(&mut second, run)
        .await
        .unwrap();
    assert_eq!(workshop.runs(), (0, 2));
    assert_eq!(results(&second)[0].structured.as_ref().unwrap()["run"], 2);
}

#[tokio::test]
async fn a_run_that_is_over_stays_as_it_was() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let mut first = session(&mut workshop, &journal);
    assert_eq!(first.stored_run().await.unwrap(), None);
    let summary = driver([calling(&["send"]), Turn::answer("sent")])
        .run(&mut first, "go")
        .await
        .unwrap();
    let (mut second, run) = stored(&mut workshop, &journal).await;
    assert_eq!(driver([]).resume(&mut second, run).await.unwrap(), summary);
    assert_eq!((second.messages(), second.turns()), (first.messages(), 2));
    assert_eq!(workshop.runs().0, 1);
}

#[tokio::test]
async fn a_run_whose_steps_were_used_up_goes_on_with_more() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let one = driver([calling(&["send"])]).with_max_steps(1);
    let summary = one
        .run(&mut session(&mut workshop, &journal), "go")
        .await
        .unwrap();
    assert!(
        matches!(&summary.outcome, Outcome::Budget(used_up) if used_up.limit == 1),
        "{summary:?}"
    );
    let (mut second, run) = stored(&mut workshop, &journal).await;
    assert_eq!(
        one.resume(&mut second, run.clone()).await.unwrap(),
        summary,
        "there are still no more"
    );
    let summary = driver([calling(&["send"]), Turn::answer("sent")])
        .with_max_steps(2)
        .resume(&mut second, run)
        .await
        .unwrap();
    assert!(
        matches!(summary.outcome, Outcome::Answer { .. }),
        "{summary:?}"
    );
    assert_eq!((workshop.runs().0, summary.steps), (1, 2));
}

#[tokio::test]
async fn a_run_that_failed_is_resumed_from_where_it_was() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let error = driver([calling(&["send"])])
        .run(&mut session(&mut workshop, &journal), "go")
        .await
        .unwrap_err();
    assert!(matches!(error, DriverError::Provider(_)), "{error}");
    let (mut second, run) = stored(&mut workshop, &journal).await;
    driver([calling(&["send"]), Turn::answer("sent")])
        .resume(&mut second, run)
        .await
        .unwrap();
    assert_eq!((workshop.runs().0, results(&second).len()), (1, 1));
}

#[tokio::test]
async fn a_session_counts_its_turns_over_all_its_runs() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let mut session = session(&mut workshop, &crib.journal());
    for _ in 0..2 {
        driver([calling(&["send"]), Turn::answer("sent")])
            .run(&mut session, "go")
            .await
            .unwrap();
        session.clear();
    }
    assert_eq!(
        workshop.sent.load(Ordering::SeqCst),
        2,
        "the same call of another turn is another call"
    );
    let turns: Vec<_> = crib
        .entries()
        .iter()
        .map(|entry| entry.turn.unwrap())
        .collect();
    assert_eq!((turns, session.turns()), (vec![1, 1, 3, 3], 4));
}

#[tokio::test]
async fn another_conversation_by_the_same_name_is_stopped() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    driver([calling(&["think"]), Turn::answer("")])
        .run(&mut session(&mut workshop, &journal), "go")
        .await
        .unwrap();
    let mut other = session(&mut workshop, &journal);
    let error = driver([calling(&["send"]), Turn::answer("never said")])
        .run(&mut other, "go")
        .await
        .unwrap_err();
    assert!(
        matches!(&error, DriverError::Tool(error) if error.code() == ErrorCode::Diverged),
        "{error}"
    );
    assert_eq!(workshop.runs().0, 0);
}

#[tokio::test]
async fn a_broken_journal_ends_a_run_before_anything_is_done() {
    for (damage, turns) in [
        ("DROP TABLE state", 0),
        ("ALTER TABLE entry RENAME COLUMN principal TO other", 1),
    ] {
        let (crib, mut workshop) = (Crib::new(), Workshop::new());
        let mut session = session(&mut workshop, &crib.journal());
        crib.tamper(damage);
        let error = driver([calling(&["send"]), Turn::answer("never said")])
            .run(&mut session, "go")
            .await
            .unwrap_err();
        let is_journal_error = match &error {
            DriverError::Tool(error) => error.code() == ErrorCode::Internal,
            error => matches!(error, DriverError::Journal(_)),
        };
        assert!(
            is_journal_error && error.to_string().contains("the journal cannot be used"),
            "{error}"
        );
        assert_eq!((workshop.runs().0, session.turns()), (0, turns));
    }
}

#[tokio::test]
async fn a_stored_state_that_is_no_run_is_an_error() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let mut session = session(&mut workshop, &journal);
    driver([calling(&["think"]), Turn::answer("")])
        .run(&mut session, "go")
        .await
        .unwrap();
    crib.tamper("UPDATE state SET state = '{}'");
    assert!(matches!(
        session.stored_run().await,
        Err(DriverError::Stored { .. })
    ));
}

#[tokio::test]
async fn a_checkpoint_adds_messages_and_rewrites_none() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    crib.tamper("CREATE TRIGGER lasting BEFORE DELETE ON message BEGIN SELECT raise(ABORT, 'rewritten'); END");
    let mut first = session(&mut workshop, &journal);
    driver([
        calling(&["send"]),
        calling(&["think"]),
        Turn::answer("sent"),
    ])
    .run(&mut first, "go")
    .await
    .unwrap();
    let run = stored(&mut workshop, &journal).await.1;
    assert_eq!(
        (run.messages(), run.messages().len()),
        (first.messages(), 6)
    );
}

#[tokio::test]
async fn of_two_drivers_of_a_session_the_last_to_save_wins() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let rival = journal.clone();
    let save = move |_: ToolContext, _: Value| {
        let rival = rival.clone();
        async move {
            rival
                .save("s", Checkpoint::new(vec!["a".to_owned(); 9], "another run"))
                .await
                .unwrap();
            "saved".to_owned()
        }
    };
    workshop
        .catalog
        .register(tool("rival", json!("pure")), save)
        .unwrap();
    let mut first = session(&mut workshop, &journal);
    driver([calling(&["rival"]), Turn::answer("well")])
        .run(&mut first, "go")
        .await
        .unwrap();
    let run = stored(&mut workshop, &journal).await.1;
    assert_eq!(run.messages(), first.messages());
}

#[tokio::test]
async fn only_the_newest_checkpoint_is_added_to() {
    let (crib, texts) = (Crib::new(), |texts: &[&str]| {
        texts.iter().copied().map(str::to_owned).collect::<Vec<_>>()
    });
    let journal = crib.journal();
    let first = journal
        .save("s", Checkpoint::new(texts(&["a"]), "1"))
        .await
        .unwrap();
    let second = journal
        .append("s", first, Checkpoint::new(texts(&["b", "c"]), "2"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        journal
            .append("s", first, Checkpoint::new(texts(&["d"]), "3"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        journal
            .append("other", first, Checkpoint::new(texts(&["d"]), "3"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        journal.load("s").await.unwrap(),
        Some(Checkpoint::new(texts(&["a", "b", "c"]), "2"))
    );
    journal
        .save("s", Checkpoint::new(texts(&["e"]), "4"))
        .await
        .unwrap();
    assert_eq!(
        journal
            .append("s", second, Checkpoint::new(texts(&["d"]), "3"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        journal.load("s").await.unwrap(),
        Some(Checkpoint::new(texts(&["e"]), "4"))
    );
    assert_eq!(journal.load("other").await.unwrap(), None);
}

#[tokio::test]
async fn a_session_of_the_first_version_of_the_file_goes_on() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let (run, state) = one_step(&mut workshop, &crib).await;
    crib.turn_into_version_1();
    crib.tamper(&format!("UPDATE state SET state = '{state}'"));
    assert_eq!(crib.head().count, 2, "it is audited as it is");

    let mut second = session(&mut workshop, &crib.journal());
    assert_eq!(second.stored_run().await.unwrap().as_ref(), Some(&run));
    let two = driver([calling(&["send"]), Turn::answer("sent")]).with_max_steps(2);
    two.resume(&mut second, run).await.unwrap();
    let run = stored(&mut workshop, &crib.journal()).await.1;
    assert_eq!((run.messages(), workshop.runs().0), (second.messages(), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_a_wide_integer_is_resumed_with_the_same_arguments() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let wide = || {
        let arguments = tools::Json::parse(r#"{"n":18446744073709551617}"#).unwrap();
        Turn::calls([
            ToolCall::new("a", "think", arguments),
            ToolCall::new("b", "hang", json!({})),
        ])
    };
    let mut first = session(&mut workshop, &journal);
    broken_off(&driver([wide()]), &mut first, &crib, 1).await;
    let (mut second, run) = stored(&mut workshop, &journal).await;
    let resumed = driver([wide(), Turn::answer("well")])
        .resume(&mut second, run)
        .await;
    assert!(resumed.is_ok(), "{resumed:?}");
}

#[tokio::test]
async fn a_process_of_the_first_version_may_still_write_the_file() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let (run, state) = one_step(&mut workshop, &crib).await;
    // The statement of version 1.
    crib.tamper(&format!(
        "INSERT OR REPLACE INTO state (session, at_ms, state) VALUES ('s', 1, '{state}')"
    ));
    let stored = stored(&mut workshop, &crib.journal()).await.1;
    assert_eq!(stored, run);
}

#[tokio::test]
async fn a_run_that_the_provider_refuses_each_time_leaves_the_session_as_it_was() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let direct = Driver::new(Arc::new(Direct)).with_checkpoints(true);
    let journal = crib.journal();
    let mut session = session(&mut workshop, &journal);
    let refused = direct.run(&mut session, "send(").await;
    assert!(
        matches!(
            refused,
            Err(DriverError::Provider(ProviderError::Prompt { .. }))
        ),
        "{refused:?}"
    );
    assert_eq!(journal.load("s").await.unwrap(), None);

    direct.run(&mut session, "send").await.unwrap();
    let stored = journal.load("s").await.unwrap();
    direct.run(&mut session, "send(").await.unwrap_err();
    assert_eq!(journal.load("s").await.unwrap(), stored);
}
