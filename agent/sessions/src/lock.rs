//! [`LockedSession`]: a session that no other process can resume or remove.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tools_store::private;

use crate::error::SessionError;
use crate::id::{BESIDE, JOURNAL, NEW_TASKS, SessionId, TASKS};
use crate::tasks::TaskFile;

/// The file name ending of a session's lock.
const LOCK: &str = "lock";

/// The time for which another process may hold the lock only to see whether the session is open.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The pause between two attempts to lock.
const PAUSE: Duration = Duration::from_millis(10);

/// A session that no other process can resume or remove until this value is dropped, or the process ends.
///
/// The lock is a file of its own: closing any handle of the journal would drop SQLite's locks on it. Only the process that holds
/// the lock removes the file.
#[derive(Debug)]
pub(crate) struct LockedSession {
    pub(crate) id: SessionId,
    folder: PathBuf,
    /// Unlocks when it is closed.
    _lock: File,
}

impl LockedSession {
    /// Creates and locks a session. Returns `None` if there is one with this ID.
    pub(crate) fn create(folder: &Path, id: SessionId) -> io::Result<Option<Self>> {
        let path = folder.join(id.file(LOCK));
        let lock = match private::create_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            created => created?,
        };
        // Waits, because another process may look whether the session is open.
        lock.lock()?;
        // Another process may have erased the file between its creation and the lock.
        let is_held = is_at(&lock, &path)?;
        let session = Self {
            id,
            folder: folder.to_owned(),
            _lock: lock,
        };
        Ok(Some(session).filter(|session| is_held && !session.journal().exists()))
    }

    /// Locks an existing session.
    pub(crate) fn lock(folder: &Path, id: SessionId) -> Result<Self, SessionError> {
        let path = folder.join(id.file(LOCK));
        let unusable = SessionError::folder(&path);
        let mut waited = Duration::ZERO;
        let lock = loop {
            let lock = private::open_or_create(&path).map_err(unusable)?;
            while let Err(error) = lock.try_lock() {
                match error {
                    TryLockError::WouldBlock if waited < LOCK_TIMEOUT => std::thread::sleep(PAUSE),
                    TryLockError::WouldBlock => return Err(SessionError::Open { id }),
                    TryLockError::Error(source) => return Err(unusable(source)),
                }
                waited += PAUSE;
            }
            // A lock on an erased file keeps nobody out.
            if is_at(&lock, &path).map_err(unusable)? {
                break lock;
            }
        };
        let session = Self {
            id,
            folder: folder.to_owned(),
            _lock: lock,
        };
        if session.journal().exists() {
            return Ok(session);
        }
        // Another process has removed the session.
        private::remove(&path).map_err(unusable)?;
        Err(SessionError::Unknown {
            text: id.to_string(),
        })
    }

    /// Returns the path of the journal.
    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join(self.id.file(JOURNAL))
    }

    /// Returns the file of the session's tasks.
    pub(crate) fn tasks(&self) -> TaskFile {
        let [path, new] = [TASKS, NEW_TASKS].map(|ending| self.folder.join(self.id.file(ending)));
        TaskFile::new(path, new)
    }

    /// Removes the session's files. The journal is removed last but one, so that a session removed in part is still listed.
    pub(crate) fn erase(&self) -> Result<(), SessionError> {
        let endings = BESIDE.into_iter().chain([JOURNAL, LOCK]);
        for file in endings.map(|ending| self.folder.join(self.id.file(ending))) {
            private::remove(&file).map_err(|source| SessionError::Erase {
                id: self.id,
                source,
            })?;
        }
        Ok(())
    }
}

/// Returns true if the path leads to the file. Another process may have removed the file before it was locked.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found.map(|found| (found.dev(), found.ino()) == (held.dev(), held.ino())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_two_processes_hold_a_session_while_it_is_created_and_erased() {
        let folder = tempfile::tempdir().unwrap();
        let id = SessionId::now();
        let (is_held, erased) = (AtomicBool::new(false), AtomicUsize::new(0));
        let hold = |session: &LockedSession| {
            assert!(
                !is_held.swap(true, Ordering::SeqCst),
                "another thread holds the session"
            );
            fs::write(session.journal(), "x").unwrap();
            std::thread::yield_now();
            is_held.store(false, Ordering::SeqCst);
        };
        let work = || {
            for _ in 0..300 {
                match LockedSession::lock(folder.path(), id) {
                    Ok(session) => {
                        hold(&session);
                        session.erase().unwrap();
                        erased.fetch_add(1, Ordering::SeqCst);
                    }
                    Err(SessionError::Unknown { .. }) => {
                        if let Some(session) = LockedSession::create(folder.path(), id).unwrap() {
                            hold(&session);
                        }
                    }
                    Err(SessionError::Open { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
        assert!(erased.load(Ordering::SeqCst) > 0);
    }
}
