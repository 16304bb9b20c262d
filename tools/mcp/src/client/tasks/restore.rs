//! Finds the tasks of earlier processes.

use std::sync::Arc;
use std::time::Duration;

use tools::Task;
use tools::tasks::{Lost, StoredTask};

use crate::client::imported::Imported;
use crate::client::tasks::remote::RemoteTask;
use crate::client::tasks::stored::Stored;

/// Returns the task of an earlier process at the server with its name, or a lost one. It stays stored if its server may be one of a later session.
pub(crate) fn restore(
    stored: &StoredTask,
    server: impl FnOnce(&str) -> Option<Arc<Imported>>,
) -> Arc<dyn Task> {
    let lost = |reason: String| Arc::new(Lost::new(&*stored.title, reason));
    let data = match stored.data.deserialize::<Stored>() {
        Ok(data) => data,
        Err(error) => return lost(format!("its data is unknown: {error}")),
    };
    match server(&data.server) {
        Some(server) => match RemoteTask::new(server, data, None, Duration::ZERO) {
            Ok(task) => Arc::new(task),
            Err(error) => lost(error.to_string()),
        },
        None => {
            let reason = format!(
                "the MCP server {:?} is not one of this session any more",
                data.server
            );
            Arc::new(Lost::unreachable(stored, reason))
        }
    }
}
