//! [`Stored`]: the data from which a later process finds a task again.

use serde::{Deserialize, Serialize};

/// The data from which a later process finds a task again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) server: String,
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_ms: Option<u64>,
}
