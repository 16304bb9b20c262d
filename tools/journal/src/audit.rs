//! [`Audit`]: reads a journal and verifies its hash chain.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tools::Digest;

use crate::chain::Head;
use crate::entry::AuditEntry;
use crate::ledger::stored_digest;
use crate::open::{Fault, OpenError, WITH_SESSIONS};
use crate::row::{COLUMNS, ERASED, RULING};
use crate::{chain, open, row};

/// A read-only view of a journal. Reading does not block writers.
#[derive(Debug)]
pub struct Audit {
    pub(crate) connection: Connection,
    pub(crate) version: i64,
}

/// The first fault found in a journal. The rows before it are intact; the rows after it were not checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be read.
    #[error("cannot read the journal: {reason}; treat it as damaged")]
    Read {
        /// The error from SQLite or from decoding a row.
        reason: String,
    },
    /// A row whose hash does not follow from the previous row.
    #[error("row {row} was changed after it was written: it was edited, replaced or moved")]
    Altered {
        /// The row's number.
        row: u64,
    },
    /// A gap in the row numbers.
    #[error("row {row} is missing: it was deleted")]
    Missing {
        /// The missing row's number.
        row: u64,
    },
    /// Fewer rows than the head counts.
    #[error("the journal has {found} rows and its head counts {expected}: the end was cut off")]
    Truncated {
        /// The number of rows in the head.
        expected: u64,
        /// The number of rows in the journal.
        found: u64,
    },
    /// An intact chain that does not contain the head.
    #[error("row {row} has a different hash than the head: the journal was rewritten")]
    Rewritten {
        /// The row that the head names.
        row: u64,
    },
}

impl Audit {
    /// Opens a journal for reading.
    ///
    /// # Errors
    /// Returns an error if the file is missing, is not a journal or cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let (connection, version) = open::to_read(path.as_ref())?;
        Ok(Self {
            connection,
            version,
        })
    }

    /// Opens a journal that no process writes until this value is dropped. Creates no files beside it, as [`open`](Self::open) does
    /// for a journal without a log.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn open_unused(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let (connection, version) = open::to_read_unused(path.as_ref())?;
        Ok(Self {
            connection,
            version,
        })
    }

    /// Verifies the hash chain of all rows and returns the current head.
    ///
    /// Finds a row that was edited, deleted, added or moved. An [erased](crate::erase) row is intact; [`count_erased`](Self::count_erased)
    /// counts these. Given an earlier head, also finds:
    ///
    /// - rows cut off at the end, even by SQLite itself, which drops the damaged end of its log silently;
    /// - a journal that was rewritten as a whole.
    ///
    /// Store the head outside of the journal to detect both.
    ///
    /// # Errors
    /// Returns the first fault found.
    pub fn verify(&self, head: Option<&Head>) -> Result<Head, AuditError> {
        let contents = if self.version < WITH_SESSIONS {
            "NULL, NULL"
        } else {
            "salt, content"
        };
        let columns = self.columns();
        let sql = format!("SELECT {columns}, hash, {contents} FROM entry ORDER BY seq");
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
            let hash = row_hash(&last.hash, seq, row).map_err(unreadable)?;
            let stored = row.get(COLUMNS.len()).ok();
            let stored = stored.and_then(|bytes| stored_digest(seq, bytes).ok());
            let Some(hash) =
                hash.filter(|hash| stored == Some(*hash) && i64::try_from(number) == Ok(seq))
            else {
                return Err(AuditError::Altered { row: number });
            };
            last = Head::new(number, hash);
            check_head(head, &last)?;
        }
        match head {
            Some(head) if head.count > last.count => Err(AuditError::Truncated {
                expected: head.count,
                found: last.count,
            }),
            _ => Ok(last),
        }
    }

    /// Returns the number of [erased](crate::erase) rows. Does not [verify](Self::verify) them.
    ///
    /// # Errors
    /// Returns [`AuditError::Read`] if the journal cannot be read.
    pub fn count_erased(&self) -> Result<u64, AuditError> {
        let sql = "SELECT count(*) FROM entry WHERE kind = ?";
        self.connection
            .query_row(sql, [ERASED], |row| row.get(0))
            .map_err(unreadable)
    }

    /// Passes the rows of one session, or all rows for `None`, to the visitor in order until it breaks. Does not
    /// [verify](Self::verify) them.
    ///
    /// # Errors
    /// Returns [`AuditError::Read`] if a row cannot be read.
    pub fn visit(
        &self,
        session: Option<&str>,
        mut visitor: impl FnMut(AuditEntry) -> ControlFlow<()>,
    ) -> Result<(), AuditError> {
        let sql = format!(
            "SELECT {}, hash FROM entry WHERE ?1 IS NULL OR session = ?1 ORDER BY seq",
            self.columns()
        );
        let mut statement = self.connection.prepare(&sql).map_err(unreadable)?;
        let mut rows = statement.query([session]).map_err(unreadable)?;
        while let Some(row) = rows.next().map_err(unreadable)? {
            if visitor(AuditEntry::read(row).map_err(unreadable)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns [`COLUMNS`] for a query, with null for the one that an earlier version has not.
    fn columns(&self) -> String {
        let columns = COLUMNS.join(", ");
        if self.version < WITH_SESSIONS {
            columns.replace(RULING, &format!("NULL AS {RULING}"))
        } else {
            columns
        }
    }
}

/// Compares the row `here` with the head if the head names that row.
fn check_head(head: Option<&Head>, here: &Head) -> Result<(), AuditError> {
    match head {
        Some(head) if head.count == here.count && head.hash != here.hash => {
            Err(AuditError::Rewritten { row: head.count })
        }
        _ => Ok(()),
    }
}

/// Computes the hash of a row from the previous one's. Returns `None` if the row's content does not match its digest.
fn row_hash(
    before: &Digest,
    seq: i64,
    row: &rusqlite::Row<'_>,
) -> rusqlite::Result<Option<Digest>> {
    let columns = (0..COLUMNS.len())
        .map(|column| row.get_ref(column))
        .collect::<Result<Vec<_>, _>>()?;
    let salt = row.get_ref(COLUMNS.len() + 1)?;
    let content = row.get_ref(COLUMNS.len() + 2)?;
    let (salt, content) = match (salt, content) {
        (ValueRef::Null, ValueRef::Null) => {
            let (ruling, columns) = columns.split_last().unzip();
            let hash = chain::link_columns(before, columns.into_iter().flatten().copied());
            // The hash of an older row does not cover the ruling, so one that stands there was added later.
            return Ok(Some(hash).filter(|_| ruling == Some(&ValueRef::Null)));
        }
        (salt, ValueRef::Blob(content)) => (salt, stored_digest(seq, content.to_vec()).ok()),
        _ => return Ok(None),
    };
    let is_intact = match salt {
        // Without its salt the content cannot be compared, so each column must be as `erase` leaves it.
        ValueRef::Null => columns
            .into_iter()
            .eq(row::erased_columns(seq).iter().map(ValueRef::from)),
        ValueRef::Blob(salt) => content == Some(chain::content(salt, columns)),
        _ => false,
    };
    Ok(content
        .filter(|_| is_intact)
        .map(|content| chain::link(before, &content)))
}

pub(crate) fn unreadable(fault: impl Into<Fault>) -> AuditError {
    AuditError::Read {
        reason: fault.into().to_string(),
    }
}
