//! [`Progress`]: the progress of a call.

use serde::{Deserialize, Serialize};

use crate::ToolContext;

/// The progress of a call, as reported by its tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The completed amount, in a unit of the tool's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// The total amount, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A description of the current work, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// Creates a progress report with only a message.
    pub fn message(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// Creates a progress report with the completed and the total amount.
    pub fn new(done: f64, total: f64) -> Self {
        Self { done: Some(done), total: Some(total), message: None }
    }
}

/// Receives progress reports.
pub trait ProgressSink: Send + Sync {
    /// Receives a progress report of the call of `cx`. Runs in the tool's task, so it must not block.
    fn report(&self, cx: &ToolContext, progress: Progress);
}
