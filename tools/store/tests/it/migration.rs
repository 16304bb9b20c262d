//! Files of other versions.

use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;
use tools_store::rusqlite::Connection;
use tools_store::{Durability, Schema, Store, StoreError};

const FIRST: &str = "CREATE TABLE note (text TEXT NOT NULL) STRICT";
const SECOND: &str =
    "ALTER TABLE note ADD COLUMN tag TEXT; INSERT INTO note VALUES ('migrated', 'x')";
const OLD: Schema = Schema::new("store of notes", 0x6e6f_7465, &[FIRST]);
const NEW: Schema = Schema::new("store of notes", 0x6e6f_7465, &[FIRST, SECOND]);

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.sqlite");
    (folder, path)
}

fn open(path: &Path, schema: &Schema) -> Result<Store, StoreError> {
    Store::open(path, schema, Durability::Process)
}

fn texts(store: &Store) -> Vec<String> {
    let read = store.read_blocking(|transaction| {
        let mut statement = transaction.prepare("SELECT text FROM note ORDER BY rowid")?;
        let texts = statement
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        Ok::<_, StoreError>(texts)
    });
    read.unwrap()
}

fn add(store: &Store, text: &str) {
    let added = store.write_blocking(|transaction| {
        transaction.execute("INSERT INTO note (text) VALUES (?)", [text])?;
        Ok::<_, StoreError>(())
    });
    added.unwrap();
}

#[test]
fn a_file_of_an_older_version_is_migrated_and_keeps_its_data() {
    let (_folder, path) = file();
    add(&open(&path, &OLD).unwrap(), "old");
    for _ in 0..2 {
        assert_eq!(texts(&open(&path, &NEW).unwrap()), ["old", "migrated"]);
    }
    assert_eq!(NEW.open_to_read(&path).unwrap().1, 2);
    let error = open(&path, &OLD).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().ends_with("update the program"), "{error}");
}

#[test]
fn a_program_that_has_the_file_open_while_a_newer_one_migrates_it_neither_writes_nor_reads_it_any_more()
 {
    let (_folder, path) = file();
    let old = open(&path, &OLD).unwrap();
    add(&old, "old");
    let new = open(&path, &NEW).unwrap();
    let written =
        old.write_blocking(|transaction| Ok(transaction.execute("DELETE FROM note", [])?));
    let read = old
        .read_blocking(|transaction| Ok(transaction.prepare("SELECT * FROM note")?.column_count()));
    for error in [written.unwrap_err(), read.unwrap_err()] {
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 2,
                    known: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
    assert_eq!(texts(&new), ["old", "migrated"]);
}

#[test]
fn many_connections_that_migrate_one_file_at_once_migrate_it_once() {
    for _ in 0..10 {
        let (_folder, path) = file();
        add(&open(&path, &OLD).unwrap(), "old");
        thread::scope(|scope| {
            let opened: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| open(&path, &NEW).unwrap()))
                .collect();
            for opened in opened {
                assert_eq!(texts(&opened.join().unwrap()), ["old", "migrated"]);
            }
        });
    }
}

#[test]
fn a_failing_migration_leaves_the_file_as_it_was() {
    let (_folder, path) = file();
    add(&open(&path, &OLD).unwrap(), "old");
    let broken = Schema::new(
        "store of notes",
        0x6e6f_7465,
        &[FIRST, "DELETE FROM note", "no SQL"],
    );
    open(&path, &broken).unwrap_err();
    assert_eq!(texts(&open(&path, &OLD).unwrap()), ["old"]);
}

#[test]
fn another_file_is_refused_and_not_changed() {
    let (_folder, path) = file();
    for text in ["dear diary, ".repeat(100), "x".to_owned()] {
        std::fs::write(&path, &text).unwrap();
        let error = open(&path, &NEW).unwrap_err();
        assert!(matches!(error, StoreError::OtherFile { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute("CREATE TABLE mine (x)", [])
        .unwrap();
    let error = open(&path, &NEW).unwrap_err();
    assert!(matches!(error, StoreError::OtherFile { .. }), "{error}");
    let other = Schema::new("store of others", 1, &[FIRST]);
    std::fs::remove_file(&path).unwrap();
    open(&path, &other).unwrap();
    assert!(matches!(
        open(&path, &NEW),
        Err(StoreError::OtherFile { .. })
    ));
}

#[test]
fn a_store_in_memory_has_its_tables_and_foreign_keys() {
    const LINKED: Schema = Schema::new(
        "store of links",
        2,
        &["CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT", LINKING],
    );
    const LINKING: &str = "CREATE TABLE b (a INTEGER REFERENCES a) STRICT";
    let (_folder, path) = file();
    for store in [
        Store::in_memory(&LINKED).unwrap(),
        open(&path, &LINKED).unwrap(),
    ] {
        let broken = store.write_blocking(|transaction| {
            transaction.execute("INSERT INTO b VALUES (1)", [])?;
            Ok::<_, StoreError>(())
        });
        broken.unwrap_err();
    }
}
