//! [`Alive`]: the process of a connection.

use std::any::Any;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tools_exec::supervise::Running;

use crate::client::stdio::error::StdioError;
use crate::client::stdio::log::Log;
use crate::client::stdio::pipe::Output;

/// The time that a server has to end by itself after its standard input was closed.
const GRACE: Duration = Duration::from_secs(2);

/// Returns sentences that an error of the server shows.
pub type Remarks = dyn Fn() -> Vec<String> + Send + Sync;

/// The process of a connection. A drop ends it with all its descendants, at once.
pub struct Alive {
    pub(super) running: Running<Output>,
    pub(super) fault: Arc<OnceLock<StdioError>>,
    /// Dropped after the process has ended.
    pub(super) _kept: Arc<dyn Any + Send + Sync>,
    pub(super) remarks: Option<Arc<Remarks>>,
    /// The lines of its standard output that are no messages.
    pub(super) output: Log,
}

impl Alive {
    /// Waits until the process has ended with all its descendants, and returns why the connection ended.
    pub async fn wait_end(&self) -> StdioError {
        let ended = self.running.wait().await;
        if let Some(fault) = self.fault.get() {
            return fault.clone();
        }
        let last_words = self.running.with_stderr(|output| match output {
            Output::Log(log) => log.latest(),
            Output::Messages(_) => String::new(),
        });
        let mut words = vec![last_words, self.output.latest()];
        words.retain(|words| !words.is_empty());
        let remarks = self.remarks.as_ref().map(|remarks| remarks());
        ended.map_or(StdioError::Lost, |ended| StdioError::Ended {
            exit: ended.exit,
            last_words: words.join(" / "),
            remarks: remarks.unwrap_or_default(),
        })
    }

    /// Ends the process. Both streams must have been dropped, which closes its standard input: it has a moment to end by itself.
    pub async fn close(self) -> StdioError {
        let ended = tokio::time::timeout(GRACE, self.running.wait()).await;
        if ended.is_err() {
            self.running.stop();
        }
        self.wait_end().await
    }
}
