//! [`Audit::fork`]: copies a session into another journal.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::audit::Audit;
use crate::ledger::Ledger;
use crate::open::{Fault, OpenError};
use crate::row::{COLUMNS, now_ms};
use crate::sqlite::JournalOptions;
use crate::{open, start};

/// An error from [`Audit::fork`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// The other journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The session cannot be copied.
    #[error("cannot copy the session: {reason}; verify the journal")]
    Copy {
        /// The error from SQLite.
        reason: String,
    },
}

impl Audit {
    /// Copies a session to another journal under a new name, which must be unused there. The original does not change.
    ///
    /// The copy has the conversation and the rows of the original, in the chain of its own journal. Finished calls are therefore
    /// replayed and not run again when the copy is resumed. Its start has the present time; all other facts are those of the
    /// original's start.
    ///
    /// Copy a session only after it has ended. Otherwise a call that the original is about to run can run in the copy as well.
    ///
    /// # Errors
    /// Returns an error if this journal is damaged or has no rulings (version 1 or 2), or if the other one cannot be written.
    pub fn fork(
        &self,
        session: &str,
        to: &Path,
        name: &str,
        options: &JournalOptions,
    ) -> Result<(), ForkError> {
        let mut target = open::to_write(to, options.durability)?;
        let copied = copy(self, session, &mut target, to, name);
        copied.map_err(|fault| ForkError::Copy {
            reason: fault.to_string(),
        })
    }
}

fn copy(
    audit: &Audit,
    session: &str,
    target: &mut Connection,
    to: &Path,
    name: &str,
) -> Result<(), Fault> {
    // One read transaction, so that rows and messages are of the same moment.
    // `transaction` would need the audit mutably. An audit has no other transaction open.
    let source = audit.connection.unchecked_transaction()?;
    let transaction = open::SCHEMA.begin(target, to)?;
    let mut ledger = Ledger::new(&transaction)?;
    copy_rows(&source, session, &mut ledger, name)?;
    if let Some(mut start) = start::find(&source, audit.version, session)? {
        start.at_ms = now_ms();
        ledger.write_start(name, &start)?;
    }
    for (table, columns) in [
        ("state", "at_ms, state, checkpoint"),
        ("message", "place, text"),
    ] {
        copy_table(&source, session, &transaction, name, table, columns)?;
    }
    Ok(transaction.commit()?)
}

/// Appends the session's rows to the other chain. Rows have new numbers, so references to them change as well.
fn copy_rows(
    source: &Connection,
    session: &str,
    ledger: &mut Ledger<'_>,
    name: &str,
) -> Result<(), Fault> {
    let mut numbers: BTreeMap<i64, Value> = BTreeMap::new();
    let columns = COLUMNS.join(", ");
    let sql = format!("SELECT {columns} FROM entry WHERE session = ? ORDER BY seq");
    let mut statement = source.prepare(&sql)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let mut columns = [const { Value::Null }; COLUMNS.len()];
        for (index, (column, value)) in COLUMNS.iter().zip(&mut columns).enumerate() {
            *value = match (*column, row.get(index)?) {
                ("seq", Value::Integer(seq)) => {
                    let number = crate::row::number(ledger.next());
                    numbers.insert(seq, number.clone());
                    number
                }
                ("session", _) => Value::Text(name.to_owned()),
                ("parent" | "intent", Value::Integer(seq)) => {
                    numbers.get(&seq).cloned().unwrap_or(Value::Null)
                }
                (_, value) => value,
            };
        }
        ledger.append_columns(columns)?;
    }
    Ok(())
}

/// Copies the session's rows of a table outside of the chain.
fn copy_table(
    source: &Connection,
    session: &str,
    target: &Connection,
    name: &str,
    table: &str,
    columns: &str,
) -> Result<(), Fault> {
    let mut statement =
        source.prepare(&format!("SELECT {columns} FROM {table} WHERE session = ?"))?;
    let count = statement.column_count();
    let places = ", ?".repeat(count);
    let sql = format!("INSERT INTO {table} (session, {columns}) VALUES (?{places})");
    let mut insert = target.prepare(&sql)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let values = (0..count)
            .map(|column| row.get(column))
            .collect::<Result<Vec<Value>, _>>()?;
        insert.execute(rusqlite::params_from_iter(
            [Value::Text(name.to_owned())].into_iter().chain(values),
        ))?;
    }
    Ok(())
}
