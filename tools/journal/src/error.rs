//! [`OpenError`] and the errors of a transaction.

use std::path::PathBuf;

use tools::journal::JournalError;
use tools_store::StoreError;

/// An error from opening a file as a journal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be created.
    #[error("cannot create the journal {}: {source}; choose a file in a writable directory", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// The error from the operating system.
        source: std::io::Error,
    },
    /// SQLite cannot open the file, or not with a write-ahead log.
    #[error("cannot open the journal {}: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The problem and the next step.
        reason: String,
    },
    /// The file is not a journal.
    #[error("{} is not a Toolcrib journal; choose another file", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of Toolcrib wrote the file.
    #[error("{} has version {found}, and this program reads up to version {known}; update the program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: i64,
        /// The newest supported version.
        known: i64,
    },
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

impl From<Fault> for JournalError {
    fn from(fault: Fault) -> Self {
        Self::failed(fault)
    }
}
