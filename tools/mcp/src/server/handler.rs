//! [`Handler`]: the state of one connection.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tools::{CancellationToken, Services};

use crate::server::calls::Calls;
use crate::server::generation::Generation;
use crate::server::log_level::LogLevel;
use crate::server::options::{Options, Shared};

/// Answers the requests of one connection, or of one request if the client has no session.
pub(super) struct Handler {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Arc<Options>,
    pub(super) calls: Calls,
    /// The lowest level of log messages that a client of an older revision wants.
    pub(super) log_level: AtomicU8,
    pub(super) connection: OnceLock<Services>,
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
    ) -> Option<&OnceLock<Services>> {
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
