//! The rows that calls write, and when they are written.

use std::sync::Arc;
use std::time::Duration;

use crate::crib::{Crib, Workshop, context, tool};
use rusqlite::Connection;
use serde_json::{Value, json};
use tools::call::CallPlace;
use tools::journal::{CallKey, IntentId, Journal};
use tools::protocol::canonical_json;
use tools::{Admission, Catalog, Digest, ErrorCode, Grant, ToolContext, ToolResult};
use tools_journal::{JournalOptions, OpenError, SqliteJournal, StoreError};

#[tokio::test]
async fn a_row_says_what_was_called_by_whom_and_how_it_ended() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let cx = context(&crib.journal())
        .with_principal("me")
        .with_correlation_id("r")
        .with_place(CallPlace::new(2, 1).with_id("c"));
    let result = workshop
        .catalog
        .execute(&cx, "send", json!({"to": "you"}))
        .await
        .unwrap();
    let refused = cx
        .clone()
        .with_grant(Grant::default())
        .with_place(CallPlace::new(2, 2).with_id("c"));
    workshop
        .catalog
        .execute(&refused, "send", json!({"to": "all"}))
        .await
        .unwrap_err();

    let entries = crib.entries();
    let [intent, outcome, refusal] = &entries[..] else {
        panic!("{entries:?}")
    };
    assert_eq!(
        [&intent.kind, &outcome.kind, &refusal.kind],
        ["intent", "outcome", "refusal"]
    );
    for entry in &entries {
        assert_eq!(
            (entry.session.as_deref(), entry.turn, &*entry.tool),
            (Some("s"), Some(2), "send")
        );
        assert_eq!(entry.arguments, None, "stored only if the options say so");
        assert!(entry.at_ms > 1_700_000_000_000);
    }
    let granted = "mail:write is allowed: the grant covers it by `*:*:**`";
    let ungranted = "mail:write is asked about: no clause of the grant covers it";
    let rulings = [Some(granted.to_owned()), None, Some(ungranted.to_owned())];
    assert_eq!(
        [&intent.ruling, &outcome.ruling, &refusal.ruling].map(Clone::clone),
        rulings
    );
    for entry in [intent, refusal] {
        assert_eq!(
            entry.tool_digest,
            Some(workshop.catalog.get("send").unwrap().digest())
        );
        assert_eq!(
            (entry.principal.as_deref(), entry.correlation_id.as_deref()),
            (Some("me"), Some("r"))
        );
        assert_eq!(entry.call_id.as_deref(), Some("c"));
    }
    assert_eq!(
        intent.arguments_digest,
        Some(Digest::hash_json(&json!({"to": "you"})))
    );
    assert_eq!(
        (intent.index, refusal.index, intent.attempt),
        (Some(1), Some(2), Some(1))
    );
    assert_eq!(
        (outcome.intent, outcome.index, outcome.attempt),
        (Some(1), Some(1), Some(1))
    );
    assert_eq!(outcome.result, Some(json!(result)));
    assert_eq!(
        outcome.result_digest,
        Some(Digest::hash_bytes(
            canonical_json(&json!(result)).as_bytes()
        ))
    );
    assert!(outcome.duration_us.is_some());
    assert_eq!(refusal.error.as_deref(), Some("permission_denied"));
    assert_eq!(crib.head().count, 3);
}

#[tokio::test]
async fn arguments_are_in_the_file_only_where_that_was_asked_for() {
    for is_kept in [false, true] {
        let (crib, workshop) = (Crib::new(), Workshop::new());
        let journal = crib.journal_with(JournalOptions {
            arguments: is_kept,
            ..JournalOptions::default()
        });
        let cx = context(&journal).with_grant(Grant::default());
        workshop
            .catalog
            .execute(&cx, "send", json!({"to": "canary-7f3a"}))
            .await
            .unwrap_err();
        let nobody = json!({"to": "canary-7f3a", "and": "nobody"});
        workshop
            .catalog
            .execute(&cx, "canary", nobody)
            .await
            .unwrap_err();
        let [refused, unknown] = &crib.entries()[..] else {
            panic!()
        };
        assert_eq!(
            [refused, unknown].map(|entry| entry.reason.is_some()),
            [is_kept; 2]
        );
        assert_eq!(
            [refused, unknown].map(|entry| entry.ruling.is_some()),
            [true, false]
        );
        let kept: Vec<_> = crib
            .entries()
            .into_iter()
            .map(|entry| entry.arguments)
            .collect();
        assert_eq!(kept, [is_kept.then(|| json!({"to": "canary-7f3a"})), None]);
        // The journal is still open, because its last writer empties the log on closing.
        let holds = |name: &str| {
            let bytes = std::fs::read(crib.path().with_file_name(name)).unwrap_or_default();
            bytes.windows(11).any(|window| window == b"canary-7f3a")
        };
        assert_eq!(
            holds("calls.journal") || holds("calls.journal-wal"),
            is_kept
        );
    }
}

#[tokio::test]
async fn a_result_that_is_too_large_is_kept_as_a_note_and_a_digest() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal_with(JournalOptions {
        max_result_bytes: 100,
        ..JournalOptions::default()
    });
    let cx = context(&journal).with_place(CallPlace::new(1, 0));
    let large = json!({"text": "x".repeat(200)});
    let result = workshop
        .catalog
        .execute(&cx, "send", large.clone())
        .await
        .unwrap();
    let outcome = crib.entries().remove(1);
    assert_eq!(
        outcome.result_digest,
        Some(Digest::hash_json(&json!(result)))
    );
    let replayed = workshop.catalog.execute(&cx, "send", large).await.unwrap();
    assert!(
        replayed.to_text().contains("too large to store") && !replayed.is_error,
        "{replayed:?}"
    );
    assert_eq!(workshop.runs().0, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_come_together_share_commits_and_each_has_its_rows() {
    let all_at_once = Admission::default().with_max_concurrency(3000);
    let (crib, workshop) = (
        Crib::new(),
        Workshop::from_catalog(Catalog::new().with_admission(Arc::new(all_at_once))),
    );
    let cx = context(&crib.journal_with(JournalOptions::default()));
    let catalog = Arc::new(workshop.catalog);
    // More calls than the journal's queue holds, all started at once.
    let calls: Vec<_> = (0..3000)
        .map(|number| {
            let cx = cx.clone().with_place(CallPlace::new(1, number));
            tokio::spawn(tools::call::execute(
                catalog.clone(),
                &cx,
                "think",
                json!({"number": number}),
            ))
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(crib.head().count, 6000);
    let mut ended: Vec<_> = crib
        .entries()
        .into_iter()
        .filter_map(|entry| entry.intent)
        .collect();
    ended.sort_unstable();
    ended.dedup();
    assert_eq!(ended.len(), 3000);
}

#[tokio::test]
async fn one_record_that_cannot_be_written_leaves_the_others_alone() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let cx = context(&journal);
    let result = ToolResult::text("never begun");
    let outcome = || tools::journal::OutcomeRecord {
        result: &result,
        error: None,
        duration: Duration::ZERO,
    };
    let wrong = async { journal.end(IntentId(77), outcome()).await.unwrap_err() };
    let calls = async {
        for _ in 0..20 {
            workshop
                .catalog
                .execute(&cx, "think", json!({}))
                .await
                .unwrap();
        }
    };
    let (wrong, ()) = tokio::join!(wrong, calls);
    assert!(
        wrong.to_string().contains("row 77 is not an intent"),
        "{wrong}"
    );
    assert_eq!(crib.head().count, 40);
}

#[tokio::test]
async fn two_openings_of_one_file_continue_one_chain() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journals = [crib.journal(), crib.journal()];
    for number in 0..20 {
        let cx = context(&journals[number % 2]);
        workshop
            .catalog
            .execute(&cx, "think", json!({"number": number}))
            .await
            .unwrap();
    }
    assert_eq!(crib.head().count, 40);
    // Each finds the rows of the other.
    let [first, again] = journals.map(|journal| {
        let cx = context(&journal).with_place(CallPlace::new(1, 0));
        workshop.catalog.execute(&cx, "send", json!({}))
    });
    let (first, again) = (first.await.unwrap(), again.await.unwrap());
    assert_eq!((first, workshop.runs().0), (again, 1));
}

#[tokio::test]
async fn a_locked_file_delays_a_call_until_its_deadline_at_most() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let cx = context(&crib.journal());
    let mut holder = Connection::open(crib.path()).unwrap();
    let held = holder
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    let hurried = cx.clone().with_timeout(Duration::from_millis(50));
    assert_eq!(
        workshop
            .catalog
            .execute(&hurried, "send", json!({}))
            .await
            .unwrap_err()
            .code(),
        ErrorCode::Timeout
    );
    drop(held);
    workshop
        .catalog
        .execute(&cx, "think", json!({}))
        .await
        .unwrap();
    assert_eq!(workshop.runs(), (0, 1));
    assert_eq!(
        crib.head().count,
        2,
        "a cancelled record is not written later"
    );
}

#[test]
fn a_new_file_can_be_opened_by_many_at_once() {
    for _ in 0..20 {
        let crib = Crib::new();
        let path = crib.path();
        std::thread::scope(|scope| {
            let open = || SqliteJournal::open(&path, JournalOptions::default()).unwrap();
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            opened
                .into_iter()
                .for_each(|opened| drop(opened.join().unwrap()));
        });
        assert_eq!(crib.head().count, 0);
    }
}

#[tokio::test]
async fn the_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    workshop
        .catalog
        .execute(&context(&journal), "think", json!({}))
        .await
        .unwrap();
    let files: Vec<_> = std::fs::read_dir(crib.path().parent().unwrap())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(files.len() > 1, "there is a write-ahead log");
    for file in files {
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{file:?}"
        );
    }
}

#[test]
fn a_file_that_is_something_else_is_refused_and_left_as_it_is() {
    let crib = Crib::new();
    // SQLite treats a file that is shorter than its header as empty.
    for text in ["dear diary, ".repeat(100), "x".to_owned()] {
        std::fs::write(crib.path(), &text).unwrap();
        let error = SqliteJournal::open(crib.path(), JournalOptions::default()).unwrap_err();
        assert!(
            matches!(error, OpenError::Store(StoreError::OtherFile { .. })),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(crib.path()).unwrap(), text);
    }

    std::fs::remove_file(crib.path()).unwrap();
    Connection::open(crib.path())
        .unwrap()
        .execute("CREATE TABLE mine (x)", [])
        .unwrap();
    let error = SqliteJournal::open(crib.path(), JournalOptions::default()).unwrap_err();
    assert!(
        matches!(error, OpenError::Store(StoreError::OtherFile { .. })),
        "{error}"
    );

    let missing = crib.path().with_file_name("no/such/folder");
    let error = SqliteJournal::open(missing, JournalOptions::default()).unwrap_err();
    assert!(
        matches!(error, OpenError::Store(StoreError::Create { .. })),
        "{error}"
    );
}

#[test]
fn a_newer_version_is_refused() {
    let crib = Crib::new();
    drop(crib.journal());
    crib.tamper("PRAGMA user_version = 6");
    let error = SqliteJournal::open(crib.path(), JournalOptions::default()).unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::Store(StoreError::Newer {
                found: 6,
                known: 5,
                ..
            })
        ),
        "{error}"
    );
    assert!(matches!(
        tools_journal::Audit::open(crib.path()),
        Err(OpenError::Store(StoreError::Newer { .. }))
    ));
}

#[tokio::test]
async fn a_program_that_has_the_file_open_while_a_newer_one_migrates_it_writes_no_more() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    let cx = context(&journal);
    let send = async |place| {
        let cx = cx.clone().with_place(CallPlace::new(1, place));
        workshop
            .catalog
            .execute(&cx, "send", json!({"to": "you"}))
            .await
    };
    send(0).await.unwrap();
    crib.tamper("PRAGMA user_version = 6");
    let error = send(1).await.unwrap_err();
    assert!(
        error.to_string().contains("calls.journal"),
        "names no file: {error}"
    );
    crib.tamper("PRAGMA user_version = 5");
    assert_eq!(
        (crib.entries().len(), workshop.runs().0),
        (2, 1),
        "neither the call nor its record"
    );
}

#[tokio::test]
async fn how_a_call_ended_is_found_again_with_the_kind_of_its_error() {
    let (crib, mut workshop) = (Crib::new(), Workshop::new());
    let fail = async |_: ToolContext, _: Value| Err::<(), _>("no luck");
    workshop
        .catalog
        .register(tool("fail", json!("pure")), fail)
        .unwrap();
    let journal = crib.journal();
    let cx = context(&journal);
    workshop
        .catalog
        .execute(
            &cx.clone().with_place(CallPlace::new(1, 0)),
            "fail",
            json!({}),
        )
        .await
        .unwrap_err();
    workshop
        .catalog
        .execute(&cx.with_place(CallPlace::new(1, 1)), "think", json!({}))
        .await
        .unwrap();
    let found = [0, 1].map(|index| CallKey::new("s", 1, index));
    let failed = journal.find(&found[0]).await.unwrap().unwrap();
    assert_eq!(
        (failed.error, failed.result.unwrap().is_error),
        (Some(ErrorCode::ExecutionFailed), true)
    );
    let thought = journal.find(&found[1]).await.unwrap().unwrap();
    assert_eq!(
        (thought.error, thought.result.unwrap().is_error),
        (None, false)
    );
}
