//! [`TrustError`]: an approval or a pin that cannot be used.

use std::io;
use std::path::PathBuf;

/// An approval or a pin that cannot be read or written. Its server or skill must not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}; remove it, and approve again", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}; check the permissions of its folder", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// The file has other content than this program writes.
    #[error("{} is damaged: {reason}; remove it, and approve again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The subject is no longer the one that was shown.
    #[error("it has changed since it was shown; look at it again")]
    Changed,
}
