//! [`LogLevel`]: the severity of a log message.

use rmcp::model::LoggingLevel;
use serde::{Deserialize, Serialize};

use crate::same_json::same_json;

/// The severity of a log message, from the lowest to the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
#[allow(missing_docs, reason = "the names of syslog, RFC 5424")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// Returns the level of a message of `rmcp`.
    pub(super) fn from_rmcp(level: LoggingLevel) -> Self {
        same_json(&level).unwrap_or(Self::Emergency)
    }
}
