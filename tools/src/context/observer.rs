//! [`DeadlineObserver`]: watches the deadline of a call from outside of its task.

use std::time::Duration;

use super::ToolContext;
use crate::isolate::Panic;

/// Notified when a call's deadline starts running, which is after approval.
///
/// The pipeline looks at a deadline between two polls of a tool. A driver that runs calls in tasks of their own learns from this when
/// to stop waiting for a tool that never comes back from a poll.
pub trait DeadlineObserver: Send + Sync {
    /// Called once for a call, not for the calls that it makes. The call has to be over at the
    /// [deadline](ToolContext::deadline) of `cx`, which is `limit` from now. Runs in the task of the call, before its tool, so
    /// it must not block.
    fn started(&self, cx: &ToolContext, limit: Duration);
}

impl ToolContext {
    /// Tells that the deadline of this call runs.
    pub(crate) fn notify_observer(&self) {
        if let (Some(observer), Some(call)) = (&self.facts.observer, &self.call)
            && call.depth == 1
        {
            // After a panic the call goes on without an observer; the panic hook has reported it.
            let _ = Panic::catch(|| observer.started(self, call.limit));
        }
    }
}
