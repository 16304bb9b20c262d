//! Opens and creates journal files.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{Durability, OpenError};

/// SQLite's application id of a Toolcrib journal: `tCrJ`.
const APPLICATION_ID: i64 = 0x7443_724a;

/// The first bytes of every SQLite file: <https://www.sqlite.org/fileformat2.html>, 1.3.1.
const HEADER: &[u8] = b"SQLite format 3\0";

/// The current schema version: the number of [`TABLES`] that a file has.
pub(crate) const VERSION: i64 = TABLES.len() as i64;

/// The time a writer waits for another one, of any process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// The pause between two attempts to switch to a write-ahead log, which SQLite does not retry itself.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The migrations, one for each schema version. A file of an older version gets the missing ones.
///
/// The tables are strict, so that each value keeps the type that its hash covers.
const TABLES: [&str; 4] = [FIRST, MESSAGES, SESSIONS, MODELS];

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

/// The first schema version with [`SESSIONS`].
pub(crate) const WITH_SESSIONS: i64 = 3;

/// The first schema version with [`MODELS`].
pub(crate) const WITH_MODELS: i64 = 4;

/// Opens a journal for writing. Creates a missing file with mode 600.
pub(crate) fn to_write(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    create(path).map_err(|source| OpenError::Create { path: path.to_owned(), source })?;
    let header = header(path).map_err(|error| OpenError::Open { path: path.to_owned(), reason: error.to_string() })?;
    // SQLite would overwrite any file shorter than its header.
    if !header.is_empty() && header != HEADER {
        return Err(OpenError::NotAJournal { path: path.to_owned() });
    }
    let refused = refused(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(&refused)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(&refused)?;
    if header.is_empty() {
        if durability == Durability::Process {
            // Creating the tables would wait for the disk ten times. A loss of power can only cost the new file.
            connection.pragma_update(None, "synchronous", "OFF").map_err(&refused)?;
        }
        // The tables then need no rollback journal.
        switched_to_wal(&connection).map_err(&refused)?;
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&refused)?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&refused)?;
    let application: i64 = pragma(&transaction, "application_id").map_err(&refused)?;
    let is_new = tables == 0 && application == 0;
    let version = if is_new { 0 } else { check(&transaction, path)? };
    if version < VERSION {
        let missing = (0..).zip(TABLES).filter(|(number, _)| *number >= version);
        missing.map(|(_, tables)| tables).try_for_each(|tables| transaction.execute_batch(tables)).map_err(&refused)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(&refused)?;
        transaction.pragma_update(None, "user_version", VERSION).map_err(&refused)?;
    }
    transaction.commit().map_err(&refused)?;

    let mode = switched_to_wal(&connection).map_err(&refused)?;
    if !mode.eq_ignore_ascii_case("wal") {
        let reason = format!("it supports journal mode {mode} but no write-ahead log");
        return Err(OpenError::Open { path: path.to_owned(), reason });
    }
    let synchronous = match durability {
        Durability::Power => "FULL",
        Durability::Process => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(&refused)?;
    Ok(connection)
}

/// Opens a journal for reading. Returns its schema version too.
pub(crate) fn to_read(path: &Path) -> Result<(Connection, i64), OpenError> {
    read(path, path, OpenFlags::empty())
}

/// Opens a journal that no process writes for reading, without files beside it. Returns its schema version too.
pub(crate) fn to_read_unused(path: &Path) -> Result<(Connection, i64), OpenError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    match path.to_str() {
        // A process that was killed left a log, which `immutable` would ignore.
        Some(text) if cfg!(unix) && !Path::new(&log).exists() => {
            let escaped = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            let scheme = if path.is_absolute() { "file://" } else { "file:" };
            read(path, Path::new(&format!("{scheme}{escaped}?immutable=1")), OpenFlags::SQLITE_OPEN_URI)
        }
        _ => to_read(path),
    }
}

/// Opens the journal at `path`, which SQLite is given as `name`.
fn read(path: &Path, name: &Path, flags: OpenFlags) -> Result<(Connection, i64), OpenError> {
    let refused = refused(path);
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(name, flags).map_err(&refused)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(&refused)?;
    let version = check(&connection, path)?;
    Ok((connection, version))
}

/// Switches the file to a write-ahead log. Returns the resulting journal mode.
pub(crate) fn switched_to_wal(connection: &Connection) -> rusqlite::Result<String> {
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        let switched = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        // Two connections that switch at once can deadlock. SQLite then fails one of them at once and ignores its busy timeout;
        // the other one has finished by the next attempt.
        let is_busy = |error: &rusqlite::Error| error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy);
        if !switched.as_ref().is_err_and(is_busy) || Instant::now() >= until {
            return switched;
        }
        std::thread::sleep(RETRY_PAUSE);
    }
}

/// Returns the schema version of a journal.
///
/// # Errors
/// Returns an error if the file is not a journal or has a newer version.
fn check(connection: &Connection, path: &Path) -> Result<i64, OpenError> {
    let header = |name| pragma(connection, name).map_err(refused(path));
    if header("application_id")? != APPLICATION_ID {
        return Err(OpenError::NotAJournal { path: path.to_owned() });
    }
    match header("user_version")? {
        found @ 1..=VERSION => Ok(found),
        found if found > VERSION => Err(OpenError::Newer { path: path.to_owned(), found, known: VERSION }),
        _ => Err(OpenError::NotAJournal { path: path.to_owned() }),
    }
}

/// Creates the file with mode 600 if it is missing. SQLite would create it readable by all, and it copies the mode to the files
/// that it puts beside it.
pub(crate) fn create(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Returns the first bytes of the file, as many as [`HEADER`] has.
fn header(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut header = Vec::new();
    File::open(path)?.take(HEADER.len() as u64).read_to_end(&mut header)?;
    Ok(header)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

fn refused(path: &Path) -> impl Fn(rusqlite::Error) -> OpenError {
    move |error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => OpenError::NotAJournal { path: path.to_owned() },
        _ => OpenError::Open { path: path.to_owned(), reason: error.to_string() },
    }
}
