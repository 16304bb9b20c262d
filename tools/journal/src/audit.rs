//! [`Audit`]: looking at a journal, and whether it is what was written.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;

use crate::error::Fault;
use crate::ledger::stored_digest;
use crate::row::COLUMNS;
use crate::{AuditEntry, Head, OpenError, chain, open};

/// A journal that is looked at. Nothing of it is changed, and whoever writes it meanwhile is not held up.
#[derive(Debug)]
pub struct Audit {
    connection: Connection,
}

/// What is wrong with a journal. The rows before are what was written; of those after nothing is known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be read.
    #[error("cannot read the journal: {reason}; take it for damaged")]
    Read {
        /// What happened.
        reason: String,
    },
    /// A row that does not follow from the one before.
    #[error("row {row} is not what was written there: it was edited, replaced or put in another place")]
    Altered {
        /// Its number.
        row: u64,
    },
    /// A number that no row has, though there are later ones.
    #[error("row {row} is missing: it was deleted")]
    Missing {
        /// The number.
        row: u64,
    },
    /// Fewer rows than there were once.
    #[error("there are {found} rows, and there were {expected} once: the end was cut off")]
    Cut {
        /// How many the head says.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Rows that fit each other and not the head.
    #[error("row {row} has another hash than the head: the journal was written anew")]
    Rewritten {
        /// The row that the head names.
        row: u64,
    },
}

impl Audit {
    /// Opens a journal to look at it.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Ok(Self { connection: open::to_read(path.as_ref())? })
    }

    /// Goes through all rows: finds one that was edited, deleted, added or moved. With a head from earlier on also finds that the
    /// end was cut off, and that everything was written anew. Gives the head of now.
    ///
    /// What this cannot find without a head: the end cut off, also by SQLite itself, which drops the damaged end of its log
    /// without a word; and a journal written anew as a whole. So keep the head elsewhere.
    ///
    /// # Errors
    /// [`AuditError`] with the first thing that is wrong.
    pub fn verify(&self, head: Option<&Head>) -> Result<Head, AuditError> {
        let sql = format!("SELECT {}, hash FROM entry ORDER BY seq", COLUMNS.join(", "));
        let mut statement = self.connection.prepare(&sql).map_err(unreadable)?;
        let mut rows = statement.query([]).map_err(unreadable)?;
        let mut last = Head::new(0, chain::genesis());
        check_head(head, &last)?;
        while let Some(row) = rows.next().map_err(unreadable)? {
            let number = last.count + 1;
            let seq: i64 = row.get(0).map_err(unreadable)?;
            if u64::try_from(seq).is_ok_and(|seq| seq > number) {
                return Err(AuditError::Missing { row: number });
            }
            let columns = (0..COLUMNS.len()).map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>();
            let hash = chain::link(&last.hash, columns.map_err(unreadable)?);
            let stored = row.get(COLUMNS.len()).ok().and_then(|bytes| stored_digest(seq, bytes).ok());
            if stored != Some(hash) || i64::try_from(number) != Ok(seq) {
                return Err(AuditError::Altered { row: number });
            }
            last = Head::new(number, hash);
            check_head(head, &last)?;
        }
        match head {
            Some(head) if head.count > last.count => Err(AuditError::Cut { expected: head.count, found: last.count }),
            _ => Ok(last),
        }
    }

    /// Shows the rows in their order, those of one session or all, until the visitor has seen enough. Whether they are what was
    /// written, [`verify`](Self::verify) says.
    ///
    /// # Errors
    /// [`AuditError::Read`].
    pub fn visit(
        &self,
        session: Option<&str>,
        mut visitor: impl FnMut(AuditEntry) -> ControlFlow<()>,
    ) -> Result<(), AuditError> {
        let sql =
            format!("SELECT {}, hash FROM entry WHERE ?1 IS NULL OR session = ?1 ORDER BY seq", COLUMNS.join(", "));
        let mut statement = self.connection.prepare(&sql).map_err(unreadable)?;
        let mut rows = statement.query([session]).map_err(unreadable)?;
        while let Some(row) = rows.next().map_err(unreadable)? {
            if visitor(AuditEntry::read(row).map_err(unreadable)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Whether the row that the head names is that one.
fn check_head(head: Option<&Head>, here: &Head) -> Result<(), AuditError> {
    match head {
        Some(head) if head.count == here.count && head.hash != here.hash => {
            Err(AuditError::Rewritten { row: head.count })
        }
        _ => Ok(()),
    }
}

fn unreadable(fault: impl Into<Fault>) -> AuditError {
    AuditError::Read { reason: fault.into().to_string() }
}
