//! [`TaskFile`]: the tasks of a session that other parties keep beyond this process.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use host::program;
use tools::tasks::{StoredTasks, TaskStore};
use tools_store::private;

/// The tasks of a session that other parties keep beyond this process, such as MCP servers.
#[derive(Debug)]
pub(crate) struct TaskFile {
    path: PathBuf,
    new: PathBuf,
    is_reported: AtomicBool,
}

impl TaskFile {
    pub(crate) fn new(path: PathBuf, new: PathBuf) -> Self {
        Self {
            path,
            new,
            is_reported: AtomicBool::new(false),
        }
    }

    /// Reads the tasks of an earlier process. There are none in a new session.
    pub(crate) fn read(&self) -> StoredTasks {
        let read = private::check_file(&self.path).and_then(|()| fs::read(&self.path));
        match read.and_then(|text| Ok(serde_json::from_slice(&text)?)) {
            Ok(tasks) => tasks,
            Err(error) if error.kind() == io::ErrorKind::NotFound => StoredTasks::default(),
            Err(error) => {
                program::warn(&format!(
                    "the tasks of the session are lost: {}: {error}",
                    self.path.display()
                ));
                StoredTasks::default()
            }
        }
    }

    fn write(&self, tasks: &StoredTasks) -> io::Result<()> {
        private::replace(&self.path, &self.new, &serde_json::to_vec(tasks)?)
    }
}

impl TaskStore for TaskFile {
    fn save(&self, tasks: &StoredTasks) {
        // A session without tasks has no file.
        if tasks.started == 0 && !self.path.exists() {
            return;
        }
        if let Err(error) = self.write(tasks)
            // Each task saves the file, and one warning is enough.
            && !self.is_reported.swap(true, Ordering::Relaxed)
        {
            let path = self.path.display();
            program::warn(&format!(
                "a resumed session will not know its tasks: {path} cannot be written: {error}"
            ));
        }
    }
}
