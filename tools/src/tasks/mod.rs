//! Work that goes on after the call that started it: background programs, tasks of other servers, sub-agents.
//!
//! A host [offers](Tasks::offer) [`Tasks`] to a session. A tool that starts such work [inserts](Tasks::insert) it as a [`Task`], and
//! answers its call with the handle. The tools `task.list`, `task.result` and `task.cancel` of `toolcrib-agent` work on all kinds.

use std::sync::Arc;

use protocol::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Entry;

mod service;
mod table;
mod task;

pub use service::Tasks;
pub use task::{Lost, Task, TaskFuture, TaskState};

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
    /// The [title](Task::title).
    pub title: String,
    /// The data of the [task](Task::stored) if another party keeps it. Null if the task ends with its process.
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

/// A task of an agent with its handle.
#[derive(Clone)]
pub(super) struct TaskEntry {
    pub(super) agent: u64,
    pub(super) handle: String,
    /// The name of the tool that started the task.
    pub(super) tool: String,
    /// The tool, whose output schema holds for the result. `None` if it is unknown.
    pub(super) entry: Option<Arc<Entry>>,
    pub(super) task: Arc<dyn Task>,
    /// True once the end was [reported](Tasks::next_ended).
    pub(super) is_reported: bool,
    pub(super) told: Told,
}

/// The latest state of a task that the model knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    Running,
    Waiting,
    Ended,
}

/// A task of an agent, for messages and lists.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// The handle, such as `t1`.
    pub handle: String,
    /// The name of the tool that started the task.
    pub tool: String,
    /// The [title](Task::title).
    pub title: String,
    /// The state.
    pub state: TaskState,
}

impl TaskEntry {
    pub(super) fn info(&self) -> TaskInfo {
        TaskInfo {
            handle: self.handle.clone(),
            tool: self.tool.clone(),
            title: self.task.title(),
            state: self.task.state(),
        }
    }

    /// Returns the stored form. Returns `None` if the task ends with this process and the model knows its end.
    pub(super) fn stored(&self) -> Option<StoredTask> {
        let data = self.task.stored();
        if data.is_none() && self.told == Told::Ended {
            return None;
        }
        let data = data.unwrap_or_else(|| Value::Null.into());
        Some(StoredTask {
            handle: self.handle.clone(),
            tool: self.tool.clone(),
            title: self.task.title(),
            data,
        })
    }
}

impl From<&TaskState> for Told {
    fn from(state: &TaskState) -> Self {
        match state {
            TaskState::Running(_) => Self::Running,
            TaskState::Waiting(_) => Self::Waiting,
            TaskState::Ended(_) => Self::Ended,
        }
    }
}
