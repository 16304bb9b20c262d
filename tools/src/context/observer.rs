//! [`DeadlineObserver`]: watches the deadline of a call from outside of its task.

use std::sync::Arc;
use std::time::Duration;

use super::ToolContext;
use crate::isolate::Panic;

/// Notified when a call's deadline starts running, which is after approval.
///
/// The pipeline checks the deadline only between two polls of a tool. A driver that runs each call in its own task can stop waiting for
/// a tool that never returns from a poll. This trait tells it when.
pub trait DeadlineObserver: Send + Sync {
    /// Called once for the call with this observer in its [place](super::place::CallPlace), not for the calls that its tool makes. The call ends
    /// at the [deadline](ToolContext::deadline) of `cx`, `limit` from now. Runs in the task of the call, before the
    /// tool, so it must not block.
    fn started(&self, cx: &ToolContext, limit: Duration);

    /// Called when the deadline of a started call moves, because it or a nested call waits for an [answer](ToolContext::ask), or has
    /// one. `cx` has the new deadline. Must not block. Does nothing by default.
    fn moved(&self, cx: &ToolContext) {
        let _ = cx;
    }
}

impl ToolContext {
    /// Notifies the observer that the deadline of this call runs.
    pub(crate) fn notify_observer(&self) {
        if let Some(call) = &self.call
            && let Some(observer) = call.caller.observer()
        {
            // A panic of the observer does not stop the call, and the panic hook has reported it.
            let _ = Panic::catch(|| observer.started(self, call.limit));
        }
    }

    /// Returns the observer of the calls that are made with this context, not one of an outer call.
    pub(super) fn observer(&self) -> Option<&Arc<dyn DeadlineObserver>> {
        self.facts
            .observer
            .value
            .as_ref()
            .filter(|_| self.facts.observer.depth == self.depth())
    }
}
