//! The recorded start of a session.

use crate::crib::{Crib, Workshop, answered};
use tools::Grant;
use tools::Journal as _;
use tools::journal::Checkpoint;
use tools_journal::{Audit, JournalOptions, SessionStart, SqliteJournal};

fn start(grant: &str) -> SessionStart {
    SessionStart::new("/work", Grant::parse([grant]).unwrap())
}

#[tokio::test]
async fn a_session_keeps_the_grant_that_it_began_with() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    assert_eq!(journal.find_start("s").await.unwrap(), None);
    assert!(journal.start("s", start("*:*:**")).await.unwrap());
    // The session ran nothing yet, so it begins anew.
    let mut narrow = start("fs:read:**");
    narrow.provider = Some("openai".to_owned());
    narrow.model = Some("gpt".to_owned());
    narrow.base_url = Some("http://localhost:8080".to_owned());
    assert!(journal.start("s", narrow.clone()).await.unwrap());
    answered(&crib, &workshop, "s").await;
    assert!(!journal.start("s", start("*:*:**")).await.unwrap());
    assert_eq!(journal.find_start("s").await.unwrap(), Some(narrow.clone()));
    assert_eq!(crib.audit().find_start("s").unwrap(), Some(narrow));
    assert_eq!(crib.audit().find_start("other").unwrap(), None);
}

#[tokio::test]
async fn an_audit_reads_the_first_messages_of_a_session() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    answered(&crib, &workshop, "s").await;
    let whole = crib.audit().checkpoint("s", 100).unwrap().unwrap();
    let first = crib.audit().checkpoint("s", 1).unwrap().unwrap();
    assert_eq!(
        (first.messages.len(), &first.messages[0]),
        (1, &whole.messages[0])
    );
    assert!(whole.messages.len() == 4 && whole.state == first.state);
    assert_eq!(crib.audit().checkpoint("other", 1).unwrap(), None);
}

#[tokio::test]
async fn a_start_names_the_job_of_its_session_also_in_a_fork_and_a_file_of_the_fourth_version_has_none()
 {
    let (crib, copy, workshop) = (Crib::new(), Crib::new(), Workshop::new());
    let mut of_job = start("fs:read:**");
    of_job.job = Some(7);
    crib.journal().start("s", of_job).await.unwrap();
    answered(&crib, &workshop, "s").await;
    crib.audit()
        .fork("s", &copy.path(), "fork", &JournalOptions::default())
        .unwrap();
    assert_eq!(
        copy.audit().find_start("fork").unwrap().unwrap().job,
        Some(7)
    );
    crib.turn_into_version_4();
    assert_eq!(crib.audit().find_start("s").unwrap().unwrap().job, None);
    // Opening the file brings it up to date.
    assert_eq!(
        crib.journal().find_start("s").await.unwrap().unwrap().job,
        None
    );
}

#[tokio::test]
async fn a_file_of_the_third_version_has_starts_without_models() {
    let (crib, copy, workshop) = (Crib::new(), Crib::new(), Workshop::new());
    let mut first = start("fs:read:**");
    first.provider = Some("openai".to_owned());
    crib.journal().start("s", first.clone()).await.unwrap();
    answered(&crib, &workshop, "s").await;
    crib.turn_into_version_3();
    first.provider = None;
    assert_eq!(crib.audit().find_start("s").unwrap(), Some(first.clone()));
    crib.audit()
        .fork("s", &copy.path(), "fork", &JournalOptions::default())
        .unwrap();
    assert_eq!(
        copy.audit().find_start("fork").unwrap().unwrap().grant,
        first.grant
    );
    // Opening the file brings it up to date.
    assert_eq!(crib.journal().find_start("s").await.unwrap(), Some(first));
    crib.head();
}

#[tokio::test]
async fn a_file_of_the_first_version_has_no_start() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    answered(&crib, &workshop, "s").await;
    crib.turn_into_version_1();
    assert_eq!(crib.audit().find_start("s").unwrap(), None);
    crib.head();
    // Opening the file brings it up to date.
    assert_eq!(crib.journal().find_start("s").await.unwrap(), None);
    crib.head();
}

#[tokio::test]
async fn an_unused_journal_is_read_without_files_beside_it() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    answered(&crib, &workshop, "s").await;
    let odd = crib.path().with_file_name("50% of? #1.journal");
    std::fs::rename(crib.path(), &odd).unwrap();
    let files = || std::fs::read_dir(odd.parent().unwrap()).unwrap().count();
    assert!(
        Audit::open_unused(&odd)
            .unwrap()
            .checkpoint("s", 0)
            .unwrap()
            .is_some()
    );
    assert_eq!(files(), 1);

    // The log that a killed process leaves has the newest records.
    let journal = SqliteJournal::open(&odd, JournalOptions::default()).unwrap();
    journal
        .save("other", Checkpoint::new(Vec::new(), "{}"))
        .await
        .unwrap();
    let copy = Crib::new();
    for end in ["", "-wal"] {
        let name = |path: &std::path::Path| format!("{}{end}", path.display());
        std::fs::copy(name(&odd), name(&copy.path())).unwrap();
    }
    assert!(
        Audit::open_unused(copy.path())
            .unwrap()
            .checkpoint("other", 0)
            .unwrap()
            .is_some()
    );
    assert!(Audit::open_unused(odd.with_file_name("missing")).is_err());
}
