//! A fork has what its original had, and changes nothing there.

use crate::crib::{Crib, Workshop, answered, calling, context, driver};
use agent::{Outcome, Selection, Session, Turn};
use tools::Grant;
use tools::journal::Journal as _;
use tools_journal::{ForkError, JournalOptions, SessionStart, SqliteJournal};

fn session(workshop: &Workshop, journal: &SqliteJournal, name: &str) -> Session {
    Session::new(
        workshop.catalog.list(),
        Selection::new(),
        context(journal).with_session(name),
    )
}

#[tokio::test]
async fn a_fork_replays_the_calls_of_its_original() {
    let (crib, copy, workshop) = (Crib::new(), Crib::new(), Workshop::new());
    answered(&crib, &workshop, "before").await;
    let journal = crib.journal();
    let start = SessionStart::new("/work", Grant::parse(["mail:write:**"]).unwrap());
    journal.start("s", start.clone()).await.unwrap();
    // The script ends before the answer: the call has run, and the last checkpoint still waits for it.
    let mut first = session(&workshop, &journal, "s");
    driver([calling(&["send"])])
        .run(&mut first, "go")
        .await
        .unwrap_err();
    assert_eq!(workshop.runs().0, 2);
    let (head, stored) = (crib.head(), journal.load("s").await.unwrap());
    drop((first, journal));
    let bytes = std::fs::read(crib.path()).unwrap();

    crib.audit()
        .fork("s", &copy.path(), "fork", &JournalOptions::default())
        .unwrap();
    assert_eq!(copy.head().count, 2);
    let kinds: Vec<_> = copy
        .entries()
        .into_iter()
        .map(|entry| (entry.kind, entry.session, entry.intent))
        .collect();
    let name = Some("fork".to_owned());
    assert_eq!(
        kinds,
        [
            ("intent".to_owned(), name.clone(), None),
            ("outcome".to_owned(), name, Some(1))
        ]
    );
    assert_eq!(
        copy.audit().find_start("fork").unwrap().unwrap().grant,
        start.grant
    );

    let journal = copy.journal();
    assert_eq!(journal.load("fork").await.unwrap(), stored);
    let mut second = session(&workshop, &journal, "fork");
    let run = second.stored_run().await.unwrap().unwrap();
    let summary = driver([calling(&["send"]), Turn::answer("sent")])
        .resume(&mut second, run)
        .await
        .unwrap();
    assert!(
        matches!(summary.outcome, Outcome::Answer { .. }),
        "{summary:?}"
    );
    assert_eq!(
        workshop.runs().0,
        2,
        "the call of the original is not run again"
    );
    assert_eq!(
        (crib.head(), std::fs::read(crib.path()).unwrap()),
        (head, bytes)
    );
    assert_eq!(copy.head().count, 2);
}

#[tokio::test]
async fn a_fork_needs_a_journal_of_this_version_and_an_unused_name() {
    let (crib, copy, workshop) = (Crib::new(), Crib::new(), Workshop::new());
    answered(&crib, &workshop, "s").await;
    let fork = |name: &str| {
        crib.audit()
            .fork("s", &copy.path(), name, &JournalOptions::default())
    };
    fork("a").unwrap();
    assert!(matches!(fork("a"), Err(ForkError::Copy { .. })));
    fork("b").unwrap();
    assert_eq!(copy.head().count, 4);
    crib.turn_into_version_1();
    assert!(matches!(fork("c"), Err(ForkError::Copy { .. })));
    assert_eq!(copy.head().count, 4);
}
