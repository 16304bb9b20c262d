//! Background programs: servers, watchers and interpreters that run beside the calls of a session. Each is a task of its agent.

mod interpreted;
mod program;
mod read;
mod screen;
mod start;

pub(crate) use self::read::{LIST_TOOL, READ_TOOL, STOP_TOOL, WRITE_TOOL};
pub(crate) use start::START_TOOL;
