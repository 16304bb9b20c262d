//! [`Poll`]: asks a server for the state of a task until it has ended.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorCode, GetTaskParams};
use rmcp::service::ServiceError;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};
use tools::ToolErrorKind;

use crate::client::imported::{Imported, show_text};
use crate::client::tasks::seen::Seen;

/// The interval of a server that names none.
const INTERVAL: Duration = Duration::from_secs(1);

/// The shortest interval.
const SHORTEST: Duration = Duration::from_millis(100);

/// The longest interval.
const LONGEST: Duration = Duration::from_secs(30);

/// The longest time for an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// The number of errors in a row after which a server that is connected does not know the task.
const MAX_ERRORS: usize = 5;

/// Asks a server for the state of a task until it has ended.
pub(super) struct Poll {
    pub(super) imported: Arc<Imported>,
    pub(super) stored: Arc<Stored>,
    pub(super) seen: Arc<watch::Sender<Seen>>,
    /// Notified when the state may have changed.
    pub(super) now: Arc<Notify>,
    pub(super) interval: Duration,
    /// The time after which the server may forget the task, if it names one.
    pub(super) expires: Option<Instant>,
}

/// A request for the state that failed.
enum Failure {
    /// The server cannot be reached.
    Unreachable(String),
    /// The server answered with an error.
    Refused(String),
    /// The server does not know the task.
    Unknown,
}

impl Poll {
    /// Runs until the task has ended.
    pub(super) async fn run(mut self) {
        let mut errors = 0;
        while !self.seen.borrow().has_ended() {
            tokio::select! {
                () = sleep(self.interval) => {}
                () = self.now.notified() => {}
            }
            let next = match self.ask().await {
                Ok(seen) => {
                    errors = 0;
                    seen
                }
                Err(failure) => {
                    errors += 1;
                    self.after(failure, errors)
                }
            };
            self.seen.send_if_modified(|seen| {
                // The task may have ended meanwhile, because its questions were not answered.
                let is_open = !seen.has_ended();
                if is_open {
                    *seen = next;
                }
                is_open
            });
        }
    }

    async fn ask(&mut self) -> Result<Seen, Failure> {
        let peer = self.imported.listed_peer().await.map_err(|error| {
            Failure::Unreachable(match error {
                ToolErrorKind::Unavailable { reason } => reason,
                other => other.to_string(),
            })
        })?;
        let params = GetTaskParams::new(&*self.stored.id);
        let answer = timeout(ANSWER, peer.get_task(params)).await;
        let answer = answer.map_err(|_| Failure::Unreachable("it does not answer".to_owned()))?;
        let task = answer.map_err(|error| match error {
            ServiceError::McpError(error) if error.code == ErrorCode::INVALID_PARAMS => {
                Failure::Unknown
            }
            ServiceError::McpError(error) => Failure::Refused(show_text(&error.message)),
            ServiceError::UnexpectedResponse => {
                Failure::Refused("it answered with a result of another kind".to_owned())
            }
            error => Failure::Unreachable(show_text(&error.to_string())),
        })?;
        let task = task.task;
        if task.task.task_id != self.stored.id {
            return Err(Failure::Refused("it answered with another task".to_owned()));
        }
        self.interval = interval(task.task.poll_interval_ms);
        Ok(Seen::from_remote(self.imported.name(), task))
    }

    /// Returns the state after the given number of failures in a row.
    fn after(&mut self, failure: Failure, errors: usize) -> Seen {
        let server = self.imported.name();
        let is_over = self.expires.is_some_and(|expires| Instant::now() > expires);
        let why = if is_over {
            "keeps the task no longer, because its time is over"
        } else {
            "does not know the task any more"
        };
        let forgotten = format!("the MCP server {server} {why}");
        let reason = match failure {
            Failure::Unknown => forgotten,
            Failure::Unreachable(reason) if is_over => {
                format!("{forgotten}, and cannot be reached: {reason}")
            }
            Failure::Refused(reason) if errors >= MAX_ERRORS => {
                format!("the MCP server {server} does not tell its state: {reason}")
            }
            Failure::Unreachable(reason) | Failure::Refused(reason) => {
                self.interval = (self.interval * 2).min(LONGEST);
                let status = Some(format!("its state is unknown: {reason}"));
                return Seen::Working { status };
            }
        };
        Seen::Lost { reason }
    }
}

/// Returns the interval that a server names, within limits.
pub(super) fn interval(milliseconds: Option<u64>) -> Duration {
    milliseconds
        .map_or(INTERVAL, Duration::from_millis)
        .clamp(SHORTEST, LONGEST)
}

/// The data from which a later process finds a task again.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) server: String,
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_ms: Option<u64>,
}
