//! [`LockedSession`]: a session that no other process can resume or remove.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{BESIDE, JOURNAL, SessionError, SessionId};
use crate::private;

/// The time for which another process may hold the lock only to see whether the session is open.
const PATIENCE: Duration = Duration::from_millis(200);

/// The pause between two attempts to lock.
const PAUSE: Duration = Duration::from_millis(10);

/// A session that no other process can resume or remove until this value is dropped, or the process ends.
///
/// The lock is a file of its own: closing any handle of the journal would drop SQLite's locks on it.
#[derive(Debug)]
pub(crate) struct LockedSession {
    pub(crate) id: SessionId,
    folder: PathBuf,
    /// Unlocks when it is closed.
    _lock: File,
}

impl LockedSession {
    /// Creates and locks a session. Returns `None` if there is one with this ID.
    pub(super) fn create(folder: &Path, id: SessionId) -> io::Result<Option<Self>> {
        let lock = match private::create_file(&lock_path(folder, id)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            created => created?,
        };
        // Waits, because another process may look whether the session is open.
        lock.lock()?;
        let session = Self { id, folder: folder.to_owned(), _lock: lock };
        Ok(Some(session).filter(|session| !session.journal().exists()))
    }

    /// Locks an existing session.
    pub(super) fn lock(folder: &Path, id: SessionId) -> Result<Self, SessionError> {
        let path = lock_path(folder, id);
        let unusable = |source| SessionError::Folder { path: path.clone(), source };
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, private::FILE);
        let lock = options.open(&path).map_err(unusable)?;
        let mut waited = Duration::ZERO;
        while let Err(error) = lock.try_lock() {
            match error {
                TryLockError::WouldBlock if waited < PATIENCE => std::thread::sleep(PAUSE),
                TryLockError::WouldBlock => return Err(SessionError::Open { id }),
                TryLockError::Error(source) => return Err(unusable(source)),
            }
            waited += PAUSE;
        }
        let session = Self { id, folder: folder.to_owned(), _lock: lock };
        if session.journal().exists() {
            return Ok(session);
        }
        // Another process has removed the session.
        session.erase()?;
        Err(SessionError::Unknown { text: id.to_string() })
    }

    /// Returns the path of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path(JOURNAL)
    }

    /// Removes the session's files. The journal is removed last but one, so that a session removed in part is still listed.
    pub(crate) fn erase(&self) -> Result<(), SessionError> {
        let lock = lock_path(&self.folder, self.id);
        let files = BESIDE.iter().chain([&JOURNAL]).map(|end| self.path(end)).chain([lock]);
        for file in files {
            match fs::remove_file(file) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(|source| SessionError::Erase { id: self.id, source })?,
            }
        }
        Ok(())
    }

    fn path(&self, end: &str) -> PathBuf {
        self.folder.join(format!("{}.{end}", self.id))
    }
}

fn lock_path(folder: &Path, id: SessionId) -> PathBuf {
    folder.join(format!("{id}.lock"))
}
