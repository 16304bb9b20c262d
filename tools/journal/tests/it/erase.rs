//! Erasing a session leaves the chain and the other sessions.

use std::path::Path;

use crate::crib::{Crib, Workshop, answered, context, driver};
use agent::{Selection, Session, Turn};
use tools::{Grant, Journal as _};
use tools_journal::{AuditError, EraseError, SessionStart, erase};

const SESSIONS: [&str; 3] = ["alpha-canary", "beta-canary", "gamma-canary"];

async fn filled() -> (Crib, Workshop) {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    for name in SESSIONS {
        crib.journal()
            .start(name, SessionStart::new("/work", Grant::all()))
            .await
            .unwrap();
        answered(&crib, &workshop, name).await;
    }
    (crib, workshop)
}

fn has(folder: &Path, text: &str) -> bool {
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| std::fs::read(file.unwrap().path()).unwrap());
    files.into_iter().any(|bytes| {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn an_erased_session_leaves_no_byte_and_an_intact_chain() {
    let (crib, workshop) = filled().await;
    let [head, count] = [crib.head().to_string(), crib.head().count.to_string()];
    assert_eq!(count, "6");
    // Another connection keeps the log in place.
    let open = crib.journal();
    let folder = crib.path().parent().unwrap().to_owned();
    assert!(SESSIONS.iter().all(|name| has(&folder, name)));

    assert_eq!(
        erase(crib.path(), "beta-canary").unwrap(),
        6,
        "two rows and four messages"
    );
    assert!(
        !has(&folder, "beta-canary")
            && has(&folder, "alpha-canary")
            && has(&folder, "gamma-canary")
    );
    crib.audit().verify(Some(&head.parse().unwrap())).unwrap();
    assert_eq!(crib.audit().count_erased().unwrap(), 2);
    assert_eq!(open.load("beta-canary").await.unwrap(), None);
    assert!(open.load("alpha-canary").await.unwrap().is_some());
    assert!(open.find_start("beta-canary").await.unwrap().is_none());

    // The journal goes on, and the name is free again.
    answered(&crib, &workshop, "beta-canary").await;
    assert_eq!(crib.head().count, 8);
    assert_eq!(erase(crib.path(), "nobody").unwrap(), 0);
}

#[tokio::test]
async fn a_repeated_erasure_removes_bytes_that_an_earlier_one_left() {
    let (crib, _) = filled().await;
    erase(crib.path(), "beta-canary").unwrap();
    // Like an earlier erasure that could not rewrite the file: the bytes are in a free page and in the log.
    let open = crib.journal();
    crib.tamper("INSERT INTO message VALUES ('beta-canary', 1, 'beta')");
    crib.tamper("DELETE FROM message WHERE session = 'beta-canary'");
    let folder = crib.path().parent().unwrap().to_owned();
    assert!(has(&folder, "beta-canary"));
    assert_eq!(erase(crib.path(), "beta-canary").unwrap(), 0);
    assert!(!has(&folder, "beta-canary"));
    drop(open);
}

#[tokio::test]
async fn an_erased_row_is_still_part_of_the_chain() {
    for change in [
        "UPDATE entry SET content = zeroblob(32) WHERE seq = 3",
        "UPDATE entry SET tool = 'made.up' WHERE seq = 3",
        "UPDATE entry SET result = '{}' WHERE seq = 4",
        "UPDATE entry SET salt = zeroblob(16) WHERE seq = 3",
    ] {
        let (crib, _) = filled().await;
        erase(crib.path(), "beta-canary").unwrap();
        crib.tamper(change);
        let found = crib.audit().verify(None).unwrap_err();
        assert!(
            matches!(found, AuditError::Altered { row: 3 | 4 }),
            "{change}: {found}"
        );
    }
    let (crib, _) = filled().await;
    erase(crib.path(), "beta-canary").unwrap();
    crib.tamper("DELETE FROM entry WHERE seq = 3");
    assert!(matches!(
        crib.audit().verify(None),
        Err(AuditError::Missing { row: 3 })
    ));
}

#[tokio::test]
async fn a_session_of_an_earlier_version_is_not_erased() {
    let (crib, workshop) = filled().await;
    crib.turn_into_version_1();
    let error = erase(crib.path(), "beta-canary").unwrap_err();
    assert!(matches!(error, EraseError::Older { row: 3 }), "{error}");
    assert_eq!(crib.head().count, 6);
    // Later rows have digests.
    answered(&crib, &workshop, "delta").await;
    assert!(erase(crib.path(), "delta").unwrap() > 0);
    assert_eq!(crib.head().count, 8);
    // The hash of an older row does not cover a ruling, which it cannot have.
    crib.tamper("UPDATE entry SET ruling = 'made up' WHERE seq = 2");
    assert!(matches!(
        crib.audit().verify(None),
        Err(AuditError::Altered { row: 2 })
    ));
}

#[test]
fn a_missing_journal_is_not_created() {
    let crib = Crib::new();
    assert!(matches!(erase(crib.path(), "s"), Err(EraseError::Open(_))));
    assert!(!crib.path().exists());
}

#[tokio::test]
async fn dropping_a_journal_leaves_one_file() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let mut session = Session::new(workshop.catalog.list(), Selection::new(), context(&journal));
    driver([Turn::answer("well")])
        .run(&mut session, "go")
        .await
        .unwrap();
    drop((journal, session));
    let files: Vec<_> = std::fs::read_dir(crib.path().parent().unwrap())
        .unwrap()
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
}
