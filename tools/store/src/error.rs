//! [`StoreError`].

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The time a writer waits for another one, of any process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// An error from opening or using a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be created.
    #[error("cannot create the {kind} {}: {source}; choose a file in a writable directory", path.display())]
    Create {
        /// The kind of store, such as `journal`.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The error from the operating system.
        source: io::Error,
    },
    /// Another user could read, change or replace the file of a private store.
    #[error("the {kind} {} is not private: {reason}", path.display())]
    Exposed {
        /// The kind of store.
        kind: &'static str,
        /// The file or its folder.
        path: PathBuf,
        /// The problem and the next step.
        reason: &'static str,
    },
    /// SQLite cannot open the file, or not with a write-ahead log.
    #[error("cannot open the {kind} {}: {reason}", path.display())]
    Open {
        /// The kind of store.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The problem and the next step.
        reason: String,
    },
    /// The file is not a store of this kind.
    #[error("{} is not a {kind} of Toolcrib; choose another file", path.display())]
    OtherFile {
        /// The kind of store.
        kind: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// A newer version of Toolcrib wrote the file.
    #[error(
        "the {kind} {} has version {found}, and this program reads up to version {known}; update the program",
        path.display()
    )]
    Newer {
        /// The kind of store.
        kind: &'static str,
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: i64,
        /// The newest supported version.
        known: i64,
    },
    /// Another process held the write lock for too long. Nothing was written.
    #[error("another process has been writing for {} s; try again when it has ended", BUSY_TIMEOUT.as_secs())]
    Busy,
    /// A transaction failed. Nothing of it was written.
    #[error("the database refused: {0}; try again, and check the free space of the disk")]
    Sqlite(rusqlite::Error),
    /// The async runtime is shutting down.
    #[error("the store is closed, because the program ends; start it again")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            // A variant of its own, because the next step is to wait, and not to look at the disk.
            Some(rusqlite::ErrorCode::DatabaseBusy) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}
