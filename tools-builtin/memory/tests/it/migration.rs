//! Files of other versions.

use serde_json::json;
use tools_memory::Filter;
use tools_store::{Durability, Schema};

use crate::desk::{Desk, found, refusal, save};

/// The tables of the first version.
const FIRST: &str = "
    CREATE TABLE memory (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        principal TEXT NOT NULL,
        scope TEXT NOT NULL,
        text TEXT NOT NULL,
        tags TEXT NOT NULL,
        author TEXT NOT NULL,
        session TEXT,
        at_ms INTEGER NOT NULL,
        is_confirmed INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX same ON memory (principal, scope, text);
    INSERT INTO memory VALUES (7, '', 'user', 'an old fact', 'old', 'the agent', 's', 1700000000000, 1);
    INSERT INTO memory VALUES (9, '', 'user', 'an unconfirmed fact', '', 'the agent', NULL, 1700000000000, 0);
";
const OLD: Schema = Schema::new("store of memories", 0x7443_724d, &[FIRST]);
const NEWER: Schema = Schema::new(
    "store of memories",
    0x7443_724d,
    &["CREATE TABLE a (b)", "SELECT 1", "SELECT 2", "SELECT 3"],
);

#[tokio::test]
async fn the_memories_of_an_old_file_are_kept_and_found() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().parent().unwrap()).unwrap();
    drop(OLD.open(&desk.path(), Durability::Process).unwrap());
    let host = desk.host();
    assert_eq!(
        found(&host, json!({"query": "old", "scope": "user"})).await,
        ["an old fact"]
    );
    assert_eq!(save(&host, "a new one").await, "saved as memory 10");
    let kept = desk.memory().entries(&Filter::default()).unwrap();
    let kept: Vec<_> = kept
        .iter()
        .map(|entry| (entry.id, entry.confirmed, entry.tags.len()))
        .collect();
    assert_eq!(kept, [(7, true, 1), (9, false, 0), (10, true, 0)]);
    host.text("memory.forget", json!({"id": 7, "scope": "user"}))
        .await;
    assert!(
        found(&host, json!({"query": "old", "scope": "user"}))
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn the_file_of_a_newer_program_and_another_file_are_refused() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().parent().unwrap()).unwrap();
    drop(NEWER.open(&desk.path(), Durability::Process).unwrap());
    let error = refusal(&desk.host(), "memory.list", json!({})).await;
    assert!(
        error.contains("has version 4, and this program reads up to version 3; update the program"),
        "{error}"
    );
    std::fs::write(desk.path(), "notes of a person").unwrap();
    let error = refusal(&desk.host(), "memory.save", json!({"text": "x"})).await;
    assert!(error.contains("is not a store of memories"), "{error}");
    assert_eq!(std::fs::read(desk.path()).unwrap(), b"notes of a person");
}
