//! [`StoredTasks`]: the tasks of a session, for a later process.

use protocol::Json;
use serde::{Deserialize, Serialize};

/// The tasks of a session, for a later process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredTasks {
    /// The number of tasks that the session has started, so that no handle is used twice.
    pub started: u64,
    /// The tasks, the oldest first.
    pub tasks: Vec<StoredTask>,
}

/// A task, for a later process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredTask {
    /// The handle.
    pub handle: String,
    /// The name of the tool that started the task.
    pub tool: String,
    /// The [title](super::Task::title).
    pub title: String,
    /// The data of the [task](super::Task::stored) if another party keeps it. Null if the task ends with its process.
    pub data: Json,
}

impl StoredTask {
    /// Returns true if another party keeps the task.
    pub fn is_kept(&self) -> bool {
        !self.data.value().is_null()
    }
}

/// Saves the tasks of a session. Closures `Fn(&StoredTasks)` are stores.
pub trait TaskStore: Send + Sync {
    /// Replaces the saved tasks. Called before a call is answered with the handle of a new task and when the model learns of an end, so a
    /// store should be quick.
    fn save(&self, tasks: &StoredTasks);
}

impl<F: Fn(&StoredTasks) + Send + Sync> TaskStore for F {
    fn save(&self, tasks: &StoredTasks) {
        self(tasks);
    }
}
