//! [`Calls`]: the work for the clients of one listener or pair of streams.

use tokio_util::task::TaskTracker;

use crate::server::options::ServerLimits;
use crate::server::running::CANCEL_GRACE;
use crate::server::suspended::Suspended;
use crate::server::tasks::Tasks;

/// The size of all results that the ended tasks of a listener keep, in bytes.
const MAX_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// The work for the clients of one listener, or for the one client of a pair of streams. Clones share it.
///
/// Others do not find it, even if they know a handle.
#[derive(Clone)]
pub(super) struct Calls {
    /// All work that runs, with or without a request.
    pub(super) running: TaskTracker,
    pub(super) suspended: Suspended,
    pub(super) tasks: Tasks,
}

impl Calls {
    pub(super) fn new(limits: ServerLimits) -> Self {
        Self {
            running: TaskTracker::new(),
            suspended: Suspended::default(),
            tasks: Tasks::new(limits, MAX_RESULT_BYTES),
        }
    }

    /// Cancels the work without a request, whose clients cannot come back.
    pub(super) fn cancel_unattended(&self) {
        self.tasks.close();
        self.suspended.cancel();
    }

    /// Cancels the work without a request and waits until all work has ended, so that the journal has the outcomes.
    pub(super) async fn end(&self) {
        self.cancel_unattended();
        self.running.close();
        let _ = tokio::time::timeout(CANCEL_GRACE, self.running.wait()).await;
    }
}
