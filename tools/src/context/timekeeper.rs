//! [`Timekeeper`]: who watches over the deadline of a call from outside of its task.

use std::sync::Arc;
use std::time::Duration;

use super::ToolContext;
use crate::isolate::guarded;

/// Hears when the clock of a call starts, which is after all questions about it were answered.
///
/// The counter looks at a deadline between two polls of a tool. Whoever runs calls in tasks of their own learns from this when to
/// stop waiting for one whose tool never comes back from a poll.
pub trait Timekeeper: Send + Sync {
    /// The call of `cx` has to be over at the [deadline](ToolContext::deadline) of `cx`, which is `limit` from now. Told once of a
    /// call, and not of those that it makes. Called in the task of the call, before its tool, so it must not block.
    fn started(&self, cx: &ToolContext, limit: Duration);
}

impl ToolContext {
    /// Who hears when the clock of a call starts. Inside of a call this has no effect.
    #[must_use]
    pub fn with_timekeeper(self, timekeeper: Arc<dyn Timekeeper>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.timekeeper = Some(timekeeper)) }
    }

    /// Tells that the clock of this call has started.
    pub(crate) fn start_clock(&self) {
        if let (Some(timekeeper), Some(call)) = (&self.facts.timekeeper, &self.call)
            && call.depth == 1
        {
            // One that panics does not hear of this call; the call goes on without it, and the panic hook has told.
            let _ = guarded(|| timekeeper.started(self, call.limit));
        }
    }
}
