//! [`JobLock`]: the right to run a job, which ends with its process.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tools_store::private;

use crate::error::CronError;

/// The attempts to take a lock. Another process may hold it for a moment, to see whether the job runs.
const ATTEMPTS: u32 = 5;

/// The pause after an attempt.
const PAUSE: Duration = Duration::from_millis(10);

/// The right to run a job. No other process has it until this value is dropped, or the process ends in any way.
///
/// A lock of the operating system cannot go stale, unlike a row with an owner and a heartbeat: a process that is stopped for a while
/// keeps it, and a killed one does not.
#[derive(Debug)]
pub(crate) struct JobLock {
    path: PathBuf,
    /// Unlocks when it is closed. A program that the process starts does not inherit it.
    _file: File,
}

impl JobLock {
    /// Takes the lock of a job. Returns `None` if another process has it for longer than a look at it takes.
    pub(crate) fn take(folder: &Path, job: i64) -> Result<Option<Self>, CronError> {
        for _ in 0..ATTEMPTS {
            if let Some(lock) = Self::try_take(folder, job)? {
                return Ok(Some(lock));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// Takes the lock of a job. Returns `None` if another process has it.
    pub(crate) fn try_take(folder: &Path, job: i64) -> Result<Option<Self>, CronError> {
        let path = folder.join(format!("{job}.lock"));
        let unusable = |source| CronError::Lock {
            path: path.clone(),
            source,
        };
        private::create_folder(folder).map_err(unusable)?;
        let file = private::open_or_create(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path, _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }

    /// Removes the file of a job that is gone. An id is never used again, so no process needs it.
    pub(crate) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns the jobs of which the folder has a file.
pub(crate) fn jobs(folder: &Path) -> Vec<i64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_suffix(".lock")?
                .parse()
                .ok()
        })
        .collect()
}
