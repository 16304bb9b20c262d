//! Opens and migrates the files of stores.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::BUSY_TIMEOUT;
use crate::error::StoreError;
use crate::file;

/// The first bytes of every SQLite file: <https://www.sqlite.org/fileformat2.html>, 1.3.1.
const HEADER: &[u8] = b"SQLite format 3\0";

/// The pause between two attempts to switch to a write-ahead log, which SQLite does not retry itself.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The failures that a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// A loss of power: each commit waits for the disk (SQLite's `synchronous=FULL`). The default.
    #[default]
    Power,
    /// Any end of the process (`synchronous=NORMAL`). After a loss of power the last commits may be missing.
    Process,
}

impl Schema {
    /// Opens a file for writing, and migrates it. Creates a missing one with mode 600 in an existing folder. Links are followed: the
    /// path is one that the user chose. [`Store::open`](crate::Store::open) is for a file of the program's own.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or created, is something else, or was written by a newer version.
    pub fn open(&self, path: &Path, durability: Durability) -> Result<Connection, StoreError> {
        file::create(self.kind, path)?;
        self.open_existing(path, durability, OpenFlags::empty())
    }

    /// Opens an existing file for writing, and migrates it.
    pub(crate) fn open_existing(
        &self,
        path: &Path,
        durability: Durability,
        flags: OpenFlags,
    ) -> Result<Connection, StoreError> {
        let header = header(path)
            .map_err(|error| self.fail(path, format!("{error}; check its permissions")))?;
        // SQLite would overwrite any file shorter than its header.
        if !header.is_empty() && header != HEADER {
            return Err(self.other_file(path));
        }
        let refused = self.refuse(path);
        // Without `SQLITE_OPEN_CREATE`, which would create a file that all can read. One thread at a time uses a connection,
        // so SQLite locks none.
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(&refused)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(&refused)?;
        if header.is_empty() {
            if durability == Durability::Process {
                // Creating the tables would wait for the disk ten times. A loss of power can only cost the new file.
                connection
                    .pragma_update(None, "synchronous", "OFF")
                    .map_err(&refused)?;
            }
            // The tables then need no rollback journal.
            switch_to_wal(&connection).map_err(&refused)?;
        }
        self.migrate(&mut connection, path)?;
        // After the look at the application id: the switch writes the header, and a file of another program stays as it is.
        let mode = switch_to_wal(&connection).map_err(&refused)?;
        if !mode.eq_ignore_ascii_case("wal") {
            let reason = format!(
                "it supports journal mode {mode} but no write-ahead log; choose a file on a local disk"
            );
            return Err(self.fail(path, reason));
        }
        connection
            .pragma_update(None, "synchronous", durability.synchronous())
            .map_err(&refused)?;
        Ok(connection)
    }

    /// Runs the missing migrations. Another process that does so too waits, and finds nothing left to do. A file that has them all is
    /// not locked, because another process may be writing.
    fn migrate(&self, connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
        if self.read_version(connection, path)? == self.version() {
            return Ok(());
        }
        let refused = self.refuse(path);
        let transaction = begin(connection).map_err(&refused)?;
        // Again, under the lock: another process may have run the migrations meanwhile.
        let version = self.read_version(&transaction, path)?;
        if version < self.version() {
            for (number, migration) in (0..).zip(self.migrations) {
                if number >= version {
                    transaction.execute_batch(migration).map_err(&refused)?;
                }
            }
            transaction
                .pragma_update(None, "application_id", self.application_id)
                .map_err(&refused)?;
            transaction
                .pragma_update(None, "user_version", self.version())
                .map_err(&refused)?;
        }
        transaction.commit().map_err(&refused)
    }

    /// Returns the version of a file, which is 0 if it has no tables yet.
    fn read_version(&self, connection: &Connection, path: &Path) -> Result<i64, StoreError> {
        let refused = self.refuse(path);
        let sql = "SELECT count(*) FROM sqlite_schema";
        let tables: i64 = connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(&refused)?;
        let application = pragma(connection, "application_id").map_err(&refused)?;
        if tables == 0 && application == 0 {
            Ok(0)
        } else {
            self.check(connection, path)
        }
    }

    /// Begins a transaction that writes to the open file at `path`, as [`begin`] does.
    ///
    /// # Errors
    /// Returns [`StoreError::Busy`] if another process holds the lock for too long. Returns [`StoreError::Newer`] if a newer program has
    /// migrated the file since it was opened: this one would break the rules of the new tables.
    pub fn begin<'a>(
        &self,
        connection: &'a mut Connection,
        path: &Path,
    ) -> Result<Transaction<'a>, StoreError> {
        let transaction = begin(connection)?;
        // Inside of the transaction: a newer program cannot migrate the file between this look and the write.
        self.check(&transaction, path)?;
        Ok(transaction)
    }

    /// Opens a file for reading. Returns its version too: it is not migrated.
    ///
    /// # Errors
    /// Returns an error if the file is missing, is something else, or was written by a newer version.
    pub fn open_to_read(&self, path: &Path) -> Result<(Connection, i64), StoreError> {
        self.read(path, path, OpenFlags::empty())
    }

    /// Opens a file that no process writes for reading, without files beside it. Returns its version too.
    ///
    /// # Errors
    /// Returns the errors of [`open_to_read`](Self::open_to_read).
    pub fn open_to_read_unused(&self, path: &Path) -> Result<(Connection, i64), StoreError> {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        match path.to_str() {
            // A process that was killed left a log, which `immutable` would ignore.
            Some(text) if !Path::new(&log).exists() => {
                // `immutable` is a parameter of URIs alone, in which these characters would end the path or begin an escape.
                let escaped = text
                    .replace('%', "%25")
                    .replace('?', "%3f")
                    .replace('#', "%23");
                let scheme = if path.is_absolute() {
                    "file://"
                } else {
                    "file:"
                };
                let name = format!("{scheme}{escaped}?immutable=1");
                self.read(path, Path::new(&name), OpenFlags::SQLITE_OPEN_URI)
            }
            _ => self.open_to_read(path),
        }
    }

    /// Opens the file at `path`, which SQLite is given as `name`.
    fn read(
        &self,
        path: &Path,
        name: &Path,
        flags: OpenFlags,
    ) -> Result<(Connection, i64), StoreError> {
        let refused = self.refuse(path);
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(name, flags).map_err(&refused)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(&refused)?;
        let version = self.check(&connection, path)?;
        Ok((connection, version))
    }

    /// Returns the version of a file.
    ///
    /// # Errors
    /// Returns an error if the file is something else or has a newer version.
    pub(crate) fn check(&self, connection: &Connection, path: &Path) -> Result<i64, StoreError> {
        let application = pragma(connection, "application_id").map_err(self.refuse(path))?;
        if application != i64::from(self.application_id) {
            return Err(self.other_file(path));
        }
        let known = self.version();
        match pragma(connection, "user_version").map_err(self.refuse(path))? {
            found if found > known => Err(StoreError::Newer {
                kind: self.kind,
                path: path.to_owned(),
                found,
                known,
            }),
            found if found >= 1 => Ok(found),
            _ => Err(self.other_file(path)),
        }
    }

    fn refuse(&self, path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
        move |error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => self.other_file(path),
            _ if path.is_dir() => self.fail(path, "it is a directory; name a file".to_owned()),
            _ => self.fail(path, reason(error)),
        }
    }

    fn other_file(&self, path: &Path) -> StoreError {
        StoreError::OtherFile {
            kind: self.kind,
            path: path.to_owned(),
        }
    }

    fn fail(&self, path: &Path, reason: String) -> StoreError {
        StoreError::Open {
            kind: self.kind,
            path: path.to_owned(),
            reason,
        }
    }
}

impl Durability {
    fn synchronous(self) -> &'static str {
        match self {
            Self::Power => "FULL",
            Self::Process => "NORMAL",
        }
    }
}

/// Opens a file without a [`Schema`], with a write-ahead log. Creates a missing one with mode 600 in an existing folder.
///
/// # Errors
/// Returns an error if the file cannot be opened or created, or is no database.
pub fn connect(
    kind: &'static str,
    path: &Path,
    durability: Durability,
) -> Result<Connection, StoreError> {
    file::create(kind, path)?;
    open_with_wal(path, durability).map_err(|error| StoreError::Open {
        kind,
        path: path.to_owned(),
        reason: reason(error),
    })
}

fn open_with_wal(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    switch_to_wal(&connection)?;
    connection.pragma_update(None, "synchronous", durability.synchronous())?;
    Ok(connection)
}

/// Returns the reason why SQLite cannot open a file, and the next step.
fn reason(error: rusqlite::Error) -> String {
    match StoreError::from(error) {
        StoreError::Sqlite(error) => format!("{error}; check the file and its disk"),
        busy => busy.to_string(),
    }
}

/// Begins a transaction that takes the write lock at once, before its first read. It waits for writers of other processes.
///
/// # Errors
/// Returns an error if another process holds the lock for too long.
pub fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    // A deferred transaction that reads and then writes fails at once if another process has written in between; the busy
    // timeout does not help.
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Switches the file to a write-ahead log. Returns the resulting journal mode.
fn switch_to_wal(connection: &Connection) -> rusqlite::Result<String> {
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        let switched =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        // Two connections that switch at once can deadlock. SQLite then fails one of them at once and ignores its busy timeout;
        // the other one has finished by the next attempt.
        let code = switched
            .as_ref()
            .err()
            .and_then(rusqlite::Error::sqlite_error_code);
        if code != Some(rusqlite::ErrorCode::DatabaseBusy) || Instant::now() >= until {
            return switched;
        }
        std::thread::sleep(RETRY_PAUSE);
    }
}

/// Returns the first bytes of the file, as many as [`HEADER`] has.
fn header(path: &Path) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    File::open(path)?
        .take(HEADER.len() as u64)
        .read_to_end(&mut header)?;
    Ok(header)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    // Each transaction of a store asks.
    connection
        .prepare_cached(&format!("PRAGMA {name}"))?
        .query_row([], |row| row.get(0))
}

/// The kind of a store, and the migrations that make its tables.
///
/// The schema version of a file is the number of migrations that it has. Opening a file to write runs the missing ones in one
/// transaction. Append migrations and never change one: files that have it are not migrated again.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    pub(crate) kind: &'static str,
    pub(crate) application_id: i32,
    pub(crate) migrations: &'static [&'static str],
}

impl Schema {
    /// Creates a schema. `kind` names it in errors, such as `journal`. `application_id` tells its files from all others.
    pub const fn new(
        kind: &'static str,
        application_id: i32,
        migrations: &'static [&'static str],
    ) -> Self {
        Self {
            kind,
            application_id,
            migrations,
        }
    }

    /// Returns the current version, which is the number of migrations.
    pub const fn version(&self) -> i64 {
        self.migrations.len() as i64
    }

    /// Creates a store in memory, which ends with the connection.
    ///
    /// # Errors
    /// Returns an error if a migration fails.
    pub fn open_in_memory(&self) -> Result<rusqlite::Connection, StoreError> {
        let connection = rusqlite::Connection::open_in_memory()?;
        self.migrations
            .iter()
            .try_for_each(|migration| connection.execute_batch(migration))?;
        Ok(connection)
    }
}
