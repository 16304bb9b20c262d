//! [`SharedCounters`]: counters in a file that several processes share.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::{Connection, Transaction, params};
use tools::IgnorePoison as _;
use tools_store::{Durability, StoreError, begin};

/// Named counters in a file of their own, which all processes of a user share.
///
/// A counter belongs to a period, such as a day. The counters of earlier periods are removed once a later one is written. The counts
/// survive the end of a process; a loss of power may lose the last ones.
#[derive(Debug)]
pub struct SharedCounters {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// The name of a counter and its period. Later periods have greater texts, such as dates in ISO 8601.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterKey {
    /// The name, the same in each period.
    pub name: String,
    /// The period.
    pub period: String,
}

/// An error in reading or writing counters.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the counters in {}: {reason}; check the file, or remove it to count from zero", path.display())]
pub struct CounterError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    pub reason: String,
}

impl SharedCounters {
    /// Opens the file. A missing one is created for the user only.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created, or is not a file of counters.
    pub fn open(path: &Path) -> Result<Self, CounterError> {
        let connection = connect(path).map_err(|error| CounterError {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
        })
    }

    /// Changes counters in one step: no other thread or process reads or writes the file in between. `change` gets their values in the
    /// order of the keys, 0 for new ones. If it returns an error, nothing is written.
    ///
    /// Blocks while another process writes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written. The inner result is that of `change`.
    pub fn update<E>(
        &self,
        keys: &[CounterKey],
        change: impl FnOnce(&mut [u64]) -> Result<(), E>,
    ) -> Result<Result<(), E>, CounterError> {
        let mut connection = self.connection.lock().ignore_poison();
        update(&mut connection, keys, change).map_err(|error| CounterError {
            path: self.path.clone(),
            reason: error.to_string(),
        })
    }
}

fn update<E>(
    connection: &mut Connection,
    keys: &[CounterKey],
    change: impl FnOnce(&mut [u64]) -> Result<(), E>,
) -> rusqlite::Result<Result<(), E>> {
    let transaction = begin(connection)?;
    let values = keys.iter().map(|key| read(&transaction, key));
    let mut values = values.collect::<Result<Vec<_>, _>>()?;
    if let Err(refused) = change(&mut values) {
        return Ok(Err(refused));
    }
    for (key, value) in keys.iter().zip(values) {
        write(&transaction, key, value)?;
    }
    transaction.commit()?;
    Ok(Ok(()))
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = tools_store::connect("file of counters", path, Durability::Process)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS counter (
            name TEXT NOT NULL,
            period TEXT NOT NULL,
            value INTEGER NOT NULL,
            PRIMARY KEY (name, period)
        ) STRICT, WITHOUT ROWID",
    )?;
    Ok(connection)
}

fn read(transaction: &Transaction<'_>, key: &CounterKey) -> rusqlite::Result<u64> {
    let mut found =
        transaction.prepare_cached("SELECT value FROM counter WHERE name = ?1 AND period = ?2")?;
    let mut rows = found.query(params![key.name, key.period])?;
    rows.next()?.map_or(Ok(0), |row| row.get(0))
}

fn write(transaction: &Transaction<'_>, key: &CounterKey, value: u64) -> rusqlite::Result<()> {
    // SQLite has signed integers.
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    transaction
        .prepare_cached("INSERT INTO counter VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = excluded.value")?
        .execute(params![key.name, key.period, value])?;
    let mut earlier =
        transaction.prepare_cached("DELETE FROM counter WHERE name = ?1 AND period < ?2")?;
    earlier.execute(params![key.name, key.period])?;
    Ok(())
}
