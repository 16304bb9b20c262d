//! Opens and creates journal files.

use std::path::Path;

use rusqlite::Connection;
use tools::journal::JournalError;
use tools_store::{Durability, Schema, StoreError};

/// The current schema version.
pub(crate) const VERSION: i64 = SCHEMA.version();

/// The schema of a journal, with SQLite's application id `tCrJ`. A file of an older version gets the missing migrations.
///
/// The tables are strict, so that each value keeps the type that its hash covers.
pub(crate) const SCHEMA: Schema = Schema::new(
    "journal",
    0x7443_724a,
    &[FIRST, MESSAGES, SESSIONS, MODELS, JOBS],
);

const FIRST: &str = "
    CREATE TABLE entry (
        seq INTEGER PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        session TEXT,
        turn INTEGER,
        place INTEGER,
        path TEXT,
        attempt INTEGER,
        depth INTEGER NOT NULL,
        parent INTEGER,
        intent INTEGER,
        call_id TEXT,
        principal TEXT,
        correlation_id TEXT,
        tool TEXT NOT NULL,
        tool_digest BLOB,
        arguments_digest BLOB,
        arguments TEXT,
        error TEXT,
        reason TEXT,
        result_digest BLOB,
        result TEXT,
        duration_us INTEGER,
        hash BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX begun ON entry (session, turn, place, path, attempt) WHERE kind = 'intent' AND turn IS NOT NULL;
    CREATE UNIQUE INDEX ended ON entry (intent) WHERE kind = 'outcome';
    CREATE TABLE state (
        session TEXT PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        state TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// Stores messages in rows of their own. An older state holds the whole conversation until the session's next checkpoint.
const MESSAGES: &str = "
    ALTER TABLE state ADD COLUMN checkpoint INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE message (
        session TEXT NOT NULL,
        place INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (session, place)
    ) STRICT;
";

/// Records how each session began, and the ruling about a call. Gives each new row a digest of its content, so that the content can
/// be erased.
const SESSIONS: &str = "
    ALTER TABLE entry ADD COLUMN salt BLOB;
    ALTER TABLE entry ADD COLUMN content BLOB;
    ALTER TABLE entry ADD COLUMN ruling TEXT;
    CREATE TABLE session (
        session TEXT PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        workspace TEXT NOT NULL,
        permitted TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// Records the model of each session.
const MODELS: &str = "
    ALTER TABLE session ADD COLUMN provider TEXT;
    ALTER TABLE session ADD COLUMN model TEXT;
    ALTER TABLE session ADD COLUMN base_url TEXT;
";

/// Records the job of each session that runs one.
const JOBS: &str = "ALTER TABLE session ADD COLUMN job INTEGER;";

/// The first schema version with [`SESSIONS`].
pub(crate) const WITH_SESSIONS: i64 = 3;

/// The first schema version with [`MODELS`].
pub(crate) const WITH_MODELS: i64 = 4;

/// The first schema version with [`JOBS`].
pub(crate) const WITH_JOBS: i64 = 5;

/// Opens a journal for writing. Creates a missing file with mode 600.
pub(crate) fn to_write(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    Ok(SCHEMA.open(path, durability)?)
}

/// Opens a journal for reading. Returns its schema version too.
pub(crate) fn to_read(path: &Path) -> Result<(Connection, i64), OpenError> {
    Ok(SCHEMA.open_to_read(path)?)
}

/// Opens a journal that no process writes for reading, without files beside it. Returns its schema version too.
pub(crate) fn to_read_unused(path: &Path) -> Result<(Connection, i64), OpenError> {
    Ok(SCHEMA.open_to_read_unused(path)?)
}

/// An error from opening a file as a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be created or opened, is no journal, or was written by a newer version.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The writer thread cannot be started.
    #[error("cannot start the journal's writer thread: {0}; free some processes or memory")]
    Thread(std::io::Error),
}

/// An error in a transaction.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("row {row} is damaged: its {column} cannot be read")]
    Damaged { row: i64, column: &'static str },
    #[error("row {row} is not an intent")]
    NotBegun { row: u64 },
    #[error("the start of session {session:?} is damaged")]
    DamagedStart { session: String },
    #[error("another program reads the log")]
    LogInUse,
    #[error("cannot write {column}")]
    Unwritable { column: &'static str },
}

impl Fault {
    pub(crate) fn damaged(row: i64, column: &'static str) -> Self {
        Self::Damaged { row, column }
    }
}

impl From<Fault> for JournalError {
    fn from(fault: Fault) -> Self {
        Self::failed(fault)
    }
}
