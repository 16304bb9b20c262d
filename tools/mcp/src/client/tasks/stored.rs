//! [`Stored`]: the data from which a later process finds a task again.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tools::Task;
use tools::tasks::{Lost, StoredTask};

use super::super::Servers;
use super::remote::RemoteTask;

/// The data from which a later process finds a task again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) server: String,
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_ms: Option<u64>,
}

pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the task of an earlier process, or a lost one. It stays stored if its server may be one of a later session.
pub(crate) fn restored(servers: &Servers, stored: &StoredTask) -> Arc<dyn Task> {
    let lost = |reason: String| Arc::new(Lost::new(&*stored.title, reason));
    let data = match stored.data.deserialize::<Stored>() {
        Ok(data) => data,
        Err(error) => return lost(format!("its data is unknown: {error}")),
    };
    match servers.get(&data.server) {
        Some(server) => match RemoteTask::from_stored(server.link, &data) {
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
