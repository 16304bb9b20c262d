//! [`PendingCall`]: a call of a run before its result.

use serde::{Deserialize, Serialize};
use tools::{ToolCall, ToolResult};

use super::{Run, RunPhase};

/// A call that waits for its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingCall {
    /// The call.
    pub call: ToolCall,
    /// The position of the call in its turn, from 0.
    pub index: u32,
    /// The reason that the call must not be run, or `None`. The reason becomes the text of its error result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl PendingCall {
    /// Returns the error result of a refused call. Returns `None` if the call may be run.
    pub fn refusal(&self) -> Option<ToolResult> {
        self.refused.as_deref().map(ToolResult::error)
    }
}

impl Run {
    /// Refuses a pending call, unless it is refused already.
    pub(crate) fn refuse(&mut self, id: &str, reason: String) {
        let RunPhase::Calling { slots, .. } = &mut self.state else {
            return;
        };
        if let Some(slot) = slots.iter_mut().find(|slot| slot.pending.call.id == id) {
            slot.pending.refused.get_or_insert(reason);
        }
    }

    /// Appends a paragraph to the reason of a refused call.
    pub(crate) fn extend_refusal(&mut self, id: &str, paragraph: &str) {
        let RunPhase::Calling { slots, .. } = &mut self.state else {
            return;
        };
        let slot = slots.iter_mut().find(|slot| slot.pending.call.id == id);
        if let Some(reason) = slot.and_then(|slot| slot.pending.refused.as_mut()) {
            *reason = format!("{reason}\n{paragraph}");
        }
    }
}
