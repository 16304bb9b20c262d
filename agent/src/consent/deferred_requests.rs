//! [`DeferredRequests`]: the deferred requests of a run.

use std::sync::{Arc, Mutex, MutexGuard};

use tools::IgnorePoison as _;
use tools::ToolContext;

use super::{ApprovalKey, ApprovalRequest};

/// The requests of a run for approvals, until its driver takes them. A service of the calls of a run whose approvals can wait.
pub(crate) struct DeferredRequests {
    pub(super) key: ApprovalKey,
    requests: Mutex<Vec<ApprovalRequest>>,
}

impl DeferredRequests {
    /// Creates the service of a run with this key.
    pub(crate) fn new(key: ApprovalKey) -> Self {
        Self {
            key,
            requests: Mutex::default(),
        }
    }

    /// Returns the service of a run. Returns `None` for the calls of a running call, such as those of a sub-agent, which cannot wait:
    /// what they belong to cannot be repeated.
    pub(crate) fn of_run(cx: &ToolContext) -> Option<Arc<Self>> {
        if cx.depth() > 0 || cx.agent().is_some() {
            None
        } else {
            cx.service()
        }
    }

    pub(super) fn push(&self, request: ApprovalRequest) {
        self.locked().push(request);
    }

    /// Removes and returns the request of a call.
    pub(crate) fn take(&self, call: &str) -> Option<ApprovalRequest> {
        let mut requests = self.locked();
        let position = requests.iter().position(|request| request.call == call)?;
        Some(requests.swap_remove(position))
    }

    fn locked(&self) -> MutexGuard<'_, Vec<ApprovalRequest>> {
        self.requests.lock().ignore_poison()
    }
}
