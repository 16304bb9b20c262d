//! [`ServerReport`]: a server in the report of `doctor`.

use serde::Serialize;

/// A server in the report of `doctor`.
#[derive(Debug, Serialize)]
#[cfg_attr(
    not(feature = "default"),
    allow(dead_code, reason = "there are no servers")
)]
pub(crate) struct ServerReport {
    /// The name.
    pub(crate) server: String,
    /// The file that has it: `user` or `project`.
    pub(crate) file: &'static str,
    /// Whether sessions may use it, in words.
    pub(crate) standing: String,
}
