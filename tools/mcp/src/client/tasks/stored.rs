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

/// Returns the task of an earlier process, or a lost one.
pub(crate) fn restored(servers: &Servers, stored: &StoredTask) -> Arc<dyn Task> {
    let found = || -> Result<RemoteTask, String> {
        let data: Stored = serde_json::from_value(stored.data.value().clone())
            .map_err(|error| format!("its data is unknown: {error}"))?;
        let server = servers
            .get(&data.server)
            .ok_or_else(|| format!("the MCP server {:?} is not one of this session any more", data.server))?;
        RemoteTask::from_stored(server.link, &data).map_err(|error| error.to_string())
    };
    match found() {
        Ok(task) => Arc::new(task),
        Err(reason) => Arc::new(Lost::new(&*stored.title, reason)),
    }
}
