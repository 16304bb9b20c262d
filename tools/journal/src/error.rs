//! [`OpenError`], and what can go wrong in a transaction.

use std::path::PathBuf;

use tools::JournalError;

/// Why a file cannot be used as a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be made.
    #[error("cannot create the journal {}: {source}; name a file in a directory that can be written", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
    /// SQLite could not open it, or not in the way that a journal needs.
    #[error("cannot open the journal {}: {reason}; name a journal on a local disk", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What happened.
        reason: String,
    },
    /// It is something else.
    #[error("{} is no journal of Toolcrib; name another file", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A newer Toolcrib wrote it.
    #[error("{} has version {found}, and this program knows {known} at most; use a newer program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// There is no thread to write with.
    #[error("cannot start to write the journal: {0}; free some processes or memory")]
    Thread(std::io::Error),
}

/// What goes wrong in a transaction.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("row {row} does not hold what a journal has there ({what})")]
    Damaged { row: i64, what: &'static str },
    #[error("no call was begun in row {row}")]
    NotBegun { row: u64 },
}

impl From<Fault> for JournalError {
    fn from(fault: Fault) -> Self {
        Self::failed(fault)
    }
}
