//! [`Progress`]: how far a call has come.

use serde::{Deserialize, Serialize};

use crate::ToolContext;

/// How far a call has come, as the tool sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How much is done, in a unit of the tool's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// How much there is to do, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is going on, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// A message alone.
    pub fn message(message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..Self::default() }
    }

    /// So much of so much.
    pub fn new(done: f64, total: f64) -> Self {
        Self { done: Some(done), total: Some(total), message: None }
    }
}

/// Hears of progress.
pub trait ProgressSink: Send + Sync {
    /// The call of `cx` has come so far. Called from the tool, so it must not block.
    fn report(&self, cx: &ToolContext, progress: Progress);
}
