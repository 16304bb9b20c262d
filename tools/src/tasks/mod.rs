//! Work that goes on after the call that started it: background programs, tasks of other servers, sub-agents.
//!
//! A host [offers](Tasks::offer) [`Tasks`] to a session. A tool that starts such work [inserts](Tasks::insert) it as a [`Task`], and
//! answers its call with the handle. The tools `task.list`, `task.result` and `task.cancel` of `toolcrib-agent` work on all kinds.

use std::sync::Arc;

use serde_json::Value;

use crate::entry::Entry;

mod service;
mod table;
mod task;

pub use service::Tasks;
pub use task::{Lost, StoredTask, StoredTasks, Task, TaskFuture, TaskState, TaskStore};

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
    pub(super) fn to_stored(&self) -> Option<StoredTask> {
        let data = self.task.to_stored();
        // The end of a task that the model does not know is stored, so that a later process can tell it.
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
