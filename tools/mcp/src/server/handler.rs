//! [`Handler`]: the state of one connection.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use tokio_util::task::TaskTracker;
use tools::{CancellationToken, Host};

use crate::server::options::{Options, ServerLimits, Shared};
use crate::server::peer::LogLevel;
use crate::server::running::CANCEL_GRACE;
use crate::server::suspended::Suspended;
use crate::server::tasks::Tasks;

/// Answers the requests of one connection, or of one request if the client has no session.
pub(super) struct Handler {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Arc<Options>,
    pub(super) calls: Calls,
    /// The lowest level of log messages that a client of an older revision wants.
    pub(super) log_level: AtomicU8,
    pub(super) connection: OnceLock<Host>,
    /// True if a client without a session has it for one request.
    pub(super) is_of_request: bool,
    /// Cancelled at the end of the connection.
    pub(super) ended: CancellationToken,
}

impl Handler {
    /// Returns the session of the client of a request. Returns `None` if it has none.
    pub(super) fn connection(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Option<&OnceLock<Host>> {
        let has_one = !self.is_of_request || Generation::of(context) == Generation::Legacy;
        has_one.then_some(&self.connection)
    }

    /// Returns true if a client of an older revision wants log messages of this level.
    pub(super) fn logs(&self, level: LogLevel) -> bool {
        level as u8 >= self.log_level.load(Ordering::Relaxed)
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

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

/// A generation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// The revisions up to 2025-11-25: the server sends requests to the client.
    Legacy,
    /// The revisions from 2026-07-28 on: the server answers a request with the input that it requires.
    Modern,
}

impl Generation {
    /// Returns the generation of a request.
    pub(super) fn of(request: &RequestContext<RoleServer>) -> Self {
        match request.protocol_version() {
            Some(version) if version >= ProtocolVersion::V_2026_07_28 => Self::Modern,
            _ => Self::Legacy,
        }
    }
}
