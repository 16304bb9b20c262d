//! [`erase`]: removes a session from a journal.

use std::path::Path;
use tools_store::Durability;

use rusqlite::{Connection, params_from_iter};

use crate::open;
use crate::open::{Fault, OpenError};
use crate::row::{COLUMNS, erased_columns};

/// An error from [`erase`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EraseError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A row has no digest that could take the place of its content. The journal did not change.
    #[error(
        "cannot erase the session: an earlier version of the program wrote row {row}; delete the whole journal instead"
    )]
    Older {
        /// The row's number.
        row: u64,
    },
    /// The journal cannot be written. Bytes of the session may be left.
    #[error(
        "cannot erase the session completely: {reason}; try again when no other program uses the journal"
    )]
    Write {
        /// The error from SQLite.
        reason: String,
    },
}

/// Erases a session: its conversation, its start and the content of its rows. Returns the number of rows and messages.
///
/// Each row keeps its number, its hash and the digest of its content, so that [`Audit::verify`](crate::Audit::verify) verifies
/// the chain and earlier heads as before. The bytes are removed from the file and its log.
///
/// After [`EraseError::Write`] the rows may be erased and bytes left. A repetition then returns 0 and removes the bytes.
///
/// Erase a session only after it has ended. A call of a running session fails when its outcome finds no intent.
///
/// # Errors
/// Returns an error if the file is missing, is not a journal or cannot be written, or if an earlier version wrote a row of the
/// session.
pub fn erase(path: impl AsRef<Path>, session: &str) -> Result<usize, EraseError> {
    // Reading does not create a missing file.
    open::to_read(path.as_ref())?;
    let mut connection = open::to_write(path.as_ref(), Durability::Power)?;
    if let Some(row) = first_older(&connection, session)? {
        return Err(EraseError::Older { row });
    }
    Ok(erase_session(&mut connection, path.as_ref(), session)?)
}

impl From<Fault> for EraseError {
    fn from(fault: Fault) -> Self {
        let reason = fault.to_string();
        Self::Write { reason }
    }
}

/// Returns the session's first row without a digest of its content.
fn first_older(connection: &Connection, session: &str) -> Result<Option<u64>, Fault> {
    let sql = "SELECT min(seq) FROM entry WHERE session = ? AND content IS NULL";
    Ok(connection.query_row(sql, [session], |row| row.get(0))?)
}

fn erase_session(connection: &mut Connection, path: &Path, session: &str) -> Result<usize, Fault> {
    let transaction = open::SCHEMA.begin(connection, path)?;
    let rows: Vec<i64> = transaction
        .prepare("SELECT seq FROM entry WHERE session = ?")?
        .query_map([session], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let columns = COLUMNS.join(", ");
    let places = places();
    let sql = format!("UPDATE entry SET ({columns}, salt) = ({places}NULL) WHERE seq = ?1");
    let mut update = transaction.prepare(&sql)?;
    for seq in &rows {
        update.execute(params_from_iter(erased_columns(*seq)))?;
    }
    drop(update);
    let messages = transaction.execute("DELETE FROM message WHERE session = ?", [session])?;
    for table in ["state", "session"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE session = ?"), [session])?;
    }
    transaction.commit()?;
    // Deleted bytes stay in free pages and in the log until both are rewritten.
    connection.execute_batch("VACUUM")?;
    let is_busy: bool =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if is_busy {
        Err(Fault::LogInUse)
    } else {
        Ok(rows.len() + messages)
    }
}

/// Returns the numbered parameters of all columns: `?1, ?2, …`.
fn places() -> String {
    (1..=COLUMNS.len())
        .map(|number| format!("?{number}, "))
        .collect()
}
