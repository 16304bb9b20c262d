//! [`Progress`]: the progress of a call.

use serde::Serialize;

use super::ProtectedFile;
use crate::context::ToolContext;
use crate::visible::head;

/// The progress of a call, as reported by its tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// The completed amount, in a unit of the tool's choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// The total amount, in the same unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A description of the current work, for people. Cut at [`MAX_MESSAGE_BYTES`](Progress::MAX_MESSAGE_BYTES) when reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Progress {
    /// The maximum length of a message that a sink receives, in bytes.
    pub const MAX_MESSAGE_BYTES: usize = 1024;

    /// Creates a progress report with only a message.
    pub fn message(message: impl Into<String>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::default()
        }
    }

    /// Creates a progress report with the completed and the total amount.
    pub fn new(done: f64, total: f64) -> Self {
        Self {
            done: Some(done),
            total: Some(total),
            message: None,
        }
    }

    /// Cuts a long message.
    pub(super) fn truncate_message(mut self) -> Self {
        if let Some(message) = self
            .message
            .as_mut()
            .filter(|message| message.len() > Self::MAX_MESSAGE_BYTES)
        {
            message.truncate(head(message, Self::MAX_MESSAGE_BYTES - '…'.len_utf8()).len());
            message.push('…');
        }
        self
    }
}

/// Receives progress reports.
pub trait ProgressSink: Send + Sync {
    /// Receives a progress report of the call of `cx`. Runs in the tool's task, so it must not block.
    fn report(&self, cx: &ToolContext, progress: Progress);

    /// Receives the protected files that a program of the call of `cx` created or changed. Returns true if it shows them to the person
    /// at the host, and false by default. Must not block.
    fn protected_files(&self, cx: &ToolContext, files: &[ProtectedFile]) -> bool {
        let _ = (cx, files);
        false
    }
}
