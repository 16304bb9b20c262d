//! Work that goes on after the call that started it: background programs, tasks of other servers, sub-agents.
//!
//! A host [offers](Tasks::offer) [`Tasks`] to a session. A tool that starts such work [inserts](Tasks::insert) it as a [`Task`], and
//! answers its call with the handle. The tools `task.list`, `task.result` and `task.cancel` of `toolcrib-agent` work on all kinds.

mod entry;
mod service;
mod stored;
mod table;
mod task;

pub use entry::TaskInfo;
pub use service::Tasks;
pub use stored::{StoredTask, StoredTasks, TaskStore};
pub use task::{Lost, Task, TaskFuture, TaskState};
