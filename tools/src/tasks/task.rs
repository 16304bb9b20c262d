//! [`Task`]: work that goes on after the call that started it.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use protocol::{Json, ToolResult};
use serde::{Deserialize, Serialize};

use crate::context::ToolContext;
use crate::tool_error::ToolError;

/// The future of a [`Task`].
pub type TaskFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Work that goes on after the call that started it.
///
/// A dropped task ends, unless another party [keeps](Self::to_stored) it.
pub trait Task: Any + Send + Sync {
    /// Returns a short description for lists, such as a command line.
    fn title(&self) -> String;

    /// Returns the state now.
    fn state(&self) -> TaskState;

    /// Waits until the task has ended.
    fn wait_end(&self) -> TaskFuture<'_, ()>;

    /// Waits up to `wait` for the end of the task, for a call. The task can report progress to the call, and ask its person, whose time
    /// does not count.
    fn attend<'a>(&'a self, cx: &'a ToolContext, wait: Duration) -> TaskFuture<'a, ()> {
        let _ = cx;
        Box::pin(async move {
            // The state says whether it has ended.
            let _ = tokio::time::timeout(wait, self.wait_end()).await;
        })
    }

    /// Returns the result of a task that has ended. It can be read again.
    fn result<'a>(&'a self, cx: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>>;

    /// Tells the task to end, without waiting for it. Has no effect on a task that has ended.
    fn cancel(&self);

    /// Returns the data from which a later process finds the task again. Returns `None` if the task ends with this process.
    fn to_stored(&self) -> Option<Json> {
        None
    }
}

/// The state of a [`Task`], each with a text such as `runs for 2.1 s`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// The task runs.
    Running(String),
    /// The task goes on only when a call waits for it, for example because it has a question for the person.
    Waiting(String),
    /// The task has ended.
    Ended(String),
}

impl TaskState {
    /// Returns true if the task has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Running(text) | Self::Waiting(text) | Self::Ended(text)) = self;
        f.write_str(text)
    }
}

/// A task of an earlier process that cannot be found again.
#[derive(Debug)]
pub struct Lost {
    title: String,
    reason: String,
    stored: Option<Json>,
}

impl Lost {
    /// Creates a task that ended for this reason.
    pub fn new(title: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            reason: reason.into(),
            stored: None,
        }
    }

    /// Creates a task that this process cannot reach. It stays stored, because a later process may reach it.
    pub fn unreachable(stored: &StoredTask, reason: impl Into<String>) -> Self {
        Self {
            stored: Some(stored.data.clone()),
            ..Self::new(&*stored.title, reason)
        }
    }
}

impl Task for Lost {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn state(&self) -> TaskState {
        TaskState::Ended(format!("lost: {}", self.reason))
    }

    fn wait_end(&self) -> TaskFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        let lost = format!("the task is lost: {}: {}", self.reason, self.title);
        Box::pin(std::future::ready(Err(ToolError::execution_failed(lost))))
    }

    fn cancel(&self) {}

    fn to_stored(&self) -> Option<Json> {
        self.stored.clone()
    }
}

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
    /// The data of the [task](super::Task::to_stored) if another party keeps it. Null if the task ends with its process.
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
