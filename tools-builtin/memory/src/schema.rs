//! The tables of a store of memories.

use tools_store::Schema;

/// The schema, with SQLite's application id `tCrM`.
pub(crate) const SCHEMA: Schema = Schema::new("store of memories", 0x7443_724d, &[TABLES, SEARCH]);

/// The entries. An entry that is not confirmed stays out of digests.
const TABLES: &str = "
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
";

/// The index of words. It removes deleted words at once, so that forgotten text does not stay in it.
const SEARCH: &str = "
    CREATE VIRTUAL TABLE word USING fts5(
        text, tags, content = 'memory', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
    );
    INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
        INSERT INTO word (rowid, text, tags) VALUES (new.id, new.text, new.tags);
    END;
    CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
        INSERT INTO word (word, rowid, text, tags) VALUES ('delete', old.id, old.text, old.tags);
    END;
    CREATE TRIGGER memory_changed AFTER UPDATE OF text, tags ON memory BEGIN
        INSERT INTO word (word, rowid, text, tags) VALUES ('delete', old.id, old.text, old.tags);
        INSERT INTO word (rowid, text, tags) VALUES (new.id, new.text, new.tags);
    END;
    INSERT INTO word (word) VALUES ('rebuild');
";
