//! Background programs: servers, watchers and interpreters that run beside the calls of a session. Each is a task of its agent.

mod interpreted;
mod list;
mod output;
mod program;
mod read;
mod screen;
mod start;
mod stop;
mod write;

pub(crate) use list::LIST_TOOL;
pub(crate) use read::READ_TOOL;
pub(crate) use start::START_TOOL;
pub(crate) use stop::STOP_TOOL;
pub(crate) use write::WRITE_TOOL;
