//! Verifying a journal finds every change made to it.

use crate::crib::{Crib, Workshop, context};
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;
use tools::Digest;
use tools::call::CallPlace;
use tools_journal::{Audit, AuditError, Head, InvalidHead, JournalOptions};

/// Creates a journal of `calls` calls and a refusal. Each column has a value in some row.
async fn filled(calls: u32) -> Crib {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal_with(JournalOptions {
        arguments: true,
        ..JournalOptions::default()
    });
    let cx = context(&journal)
        .with_principal("me")
        .with_correlation_id("r");
    for number in 0..calls {
        let cx = cx
            .clone()
            .with_place(CallPlace::new(1, number).with_id("c"));
        workshop
            .catalog
            .execute(&cx, "send", json!({"number": number}))
            .await
            .unwrap();
    }
    workshop
        .catalog
        .execute(&cx, "missing", json!({}))
        .await
        .unwrap_err();
    crib
}

fn columns(crib: &Crib) -> Vec<String> {
    let connection = Connection::open(crib.path()).unwrap();
    let mut names = connection
        .prepare("SELECT name FROM pragma_table_info('entry')")
        .unwrap();
    names
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[tokio::test]
async fn an_untouched_journal_verifies_to_its_head() {
    let crib = filled(4).await;
    let head = crib.head();
    assert_eq!(head.count, 9);
    assert_eq!(head.to_string().parse(), Ok(head));
    assert_eq!(crib.audit().verify(Some(&head)).unwrap(), head);
    assert_eq!(
        "9:x".parse::<Head>(),
        Err(InvalidHead {
            text: "9:x".to_owned()
        })
    );

    let empty = Crib::new();
    drop(empty.journal());
    assert_eq!(empty.head().count, 0);
    empty.audit().verify(Some(&empty.head())).unwrap();
}

#[tokio::test]
async fn an_older_head_still_holds_after_more_was_written() {
    let (crib, workshop) = (filled(2).await, Workshop::new());
    let head = crib.head();
    workshop
        .catalog
        .execute(&context(&crib.journal()), "think", json!({}))
        .await
        .unwrap();
    let now = crib.audit().verify(Some(&head)).unwrap();
    assert_eq!((head.count, now.count), (5, 7));
}

#[tokio::test]
async fn an_edit_of_any_column_of_any_row_is_found() {
    let crib = filled(2).await;
    let untouched = std::fs::read(snapshot(&crib)).unwrap();
    let columns = columns(&crib);
    assert_eq!(columns.len(), 27);
    for row in 1..=5 {
        for column in &columns {
            let value = match column.as_str() {
                "seq" => "seq + 100",
                "hash" | "content" | "salt" | "tool_digest" | "arguments_digest"
                | "result_digest" => "zeroblob(32)",
                name if [
                    "at_ms",
                    "turn",
                    "place",
                    "attempt",
                    "depth",
                    "parent",
                    "intent",
                    "duration_us",
                ]
                .contains(&name) =>
                {
                    "coalesce({}, 0) + 1"
                }
                _ => "coalesce({}, '') || 'x'",
            };
            let value = value.replace("{}", column);
            let copy = Crib::new();
            std::fs::write(copy.path(), &untouched).unwrap();
            // An attacker drops the indexes first.
            copy.tamper("DROP INDEX begun");
            copy.tamper("DROP INDEX ended");
            copy.head();
            assert_eq!(
                copy.tamper(&format!(
                    "UPDATE entry SET {column} = {value} WHERE seq = {row}"
                )),
                1
            );
            let found = copy.audit().verify(None);
            let is_found = matches!(&found, Err(AuditError::Altered { row: at } | AuditError::Missing { row: at }) if *at == row);
            assert!(is_found, "{column} of row {row}: {found:?}");
        }
    }
}

#[tokio::test]
async fn a_deletion_is_found() {
    for row in 1..=4 {
        let crib = filled(2).await;
        assert_eq!(
            crib.tamper(&format!("DELETE FROM entry WHERE seq = {row}")),
            1
        );
        let found = crib.audit().verify(None).unwrap_err();
        assert!(
            matches!(found, AuditError::Missing { row: at } if at == row),
            "{found}"
        );
        // Closing the gap does not hide it.
        crib.tamper("DROP INDEX ended");
        crib.tamper(&format!("UPDATE entry SET seq = seq - 1 WHERE seq > {row}"));
        let found = crib.audit().verify(None).unwrap_err();
        assert!(
            matches!(found, AuditError::Altered { row: at } if at == row),
            "{found}"
        );
    }
}

#[tokio::test]
async fn two_rows_that_changed_places_are_found() {
    let crib = filled(3).await;
    crib.tamper("UPDATE entry SET seq = 1000 WHERE seq = 2");
    crib.tamper("UPDATE entry SET seq = 2 WHERE seq = 4");
    crib.tamper("UPDATE entry SET seq = 4 WHERE seq = 1000");
    assert!(matches!(
        crib.audit().verify(None),
        Err(AuditError::Altered { row: 2 })
    ));
}

#[tokio::test]
async fn a_row_that_was_made_up_is_found() {
    let crib = filled(2).await;
    crib.tamper("INSERT INTO entry SELECT 6, at_ms, kind, session, turn, 9, path, attempt, depth, parent, intent, call_id, \
        principal, correlation_id, tool, tool_digest, arguments_digest, arguments, error, reason, result_digest, result, \
        duration_us, hash, salt, content, ruling FROM entry WHERE seq = 1");
    assert!(matches!(
        crib.audit().verify(None),
        Err(AuditError::Altered { row: 6 })
    ));
    crib.tamper("UPDATE entry SET seq = 0 WHERE seq = 6");
    assert!(matches!(
        crib.audit().verify(None),
        Err(AuditError::Altered { row: 1 })
    ));
}

#[tokio::test]
async fn a_cut_is_found_with_the_head() {
    let crib = filled(3).await;
    let head = crib.head();
    assert_eq!(crib.tamper("DELETE FROM entry WHERE seq > 5"), 2);
    assert_eq!(
        crib.head().count,
        5,
        "without the head the cut is not found"
    );
    let found = crib.audit().verify(Some(&head)).unwrap_err();
    assert!(
        matches!(
            found,
            AuditError::Truncated {
                expected: 7,
                found: 5
            }
        ),
        "{found}"
    );
    crib.tamper("DELETE FROM entry");
    assert!(matches!(
        crib.audit().verify(Some(&head)),
        Err(AuditError::Truncated {
            expected: 7,
            found: 0
        })
    ));
}

#[tokio::test]
async fn a_journal_that_was_written_anew_is_found_with_the_head() {
    let (first, second) = (filled(3).await, filled(4).await);
    let found = second.audit().verify(Some(&first.head())).unwrap_err();
    assert!(matches!(found, AuditError::Rewritten { row: 7 }), "{found}");
    let nowhere = format!("0:{}", Digest::hash_bytes(b"nowhere"))
        .parse()
        .unwrap();
    assert!(matches!(
        first.audit().verify(Some(&nowhere)),
        Err(AuditError::Rewritten { row: 0 })
    ));
}

#[tokio::test]
async fn a_log_that_lost_its_end_is_found_with_the_head() {
    let (crib, workshop) = (Crib::new(), Workshop::new());
    let journal = crib.journal();
    for _ in 0..5 {
        workshop
            .catalog
            .execute(&context(&journal), "think", json!({}))
            .await
            .unwrap();
    }
    let head = crib.head();
    // A copy of the open journal's file and log, with a flipped bit towards the end of the log.
    let copy = Crib::new();
    let log = |crib: &Crib| crib.path().with_file_name("calls.journal-wal");
    std::fs::copy(crib.path(), copy.path()).unwrap();
    let mut bytes = std::fs::read(log(&crib)).unwrap();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    std::fs::write(log(&copy), bytes).unwrap();
    assert!(
        copy.head().count < head.count,
        "SQLite drops the damaged end silently"
    );
    let found = copy.audit().verify(Some(&head)).unwrap_err();
    assert!(matches!(found, AuditError::Truncated { .. }), "{found}");
}

#[test]
fn a_file_that_is_no_journal_cannot_be_verified() {
    let crib = Crib::new();
    assert!(Audit::open(crib.path()).is_err());
    std::fs::write(crib.path(), "x".repeat(1000)).unwrap();
    assert!(Audit::open(crib.path()).is_err());
}

/// Copies the journal into one file, without a log beside it.
fn snapshot(crib: &Crib) -> std::path::PathBuf {
    let path = crib.path().with_file_name("snapshot");
    crib.tamper(&format!("VACUUM INTO '{}'", path.display()));
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Removing any set of rows is found with the earlier head.
    #[test]
    fn no_set_of_rows_can_be_removed(removed in proptest::collection::btree_set(1..=9_u32, 1..9)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let crib = runtime.block_on(filled(4));
        let head = crib.head();
        let list = removed.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        crib.tamper(&format!("DELETE FROM entry WHERE seq IN ({list})"));
        prop_assert!(crib.audit().verify(Some(&head)).is_err());
    }
}
