//! [`RemoteTask`]: a call that a server goes on with.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::{CancelTaskParams, InputRequests, UpdateTaskParams};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tools::tasks::{Lost, StoredTask, TaskFuture, TaskState};
use tools::{Json, Progress, Task, ToolContext, ToolError, ToolErrorKind, ToolResult};

use crate::client::imported::Imported;
use crate::client::rounds;
use crate::client::tasks::poll::{Poll, Stored};
use crate::client::tasks::seen::Seen;

/// The maximum length of a task's id, in bytes.
const MAX_ID: usize = 1024;

/// The maximum number of times that a task can ask.
const MAX_ROUNDS: usize = 10;

/// The longest time for a message about a task, such as its cancellation.
const MESSAGE: Duration = Duration::from_secs(30);

/// A call that a server goes on with. A drop ends the polling and not the task.
pub(crate) struct RemoteTask {
    imported: Arc<Imported>,
    stored: Arc<Stored>,
    seen: Arc<watch::Sender<Seen>>,
    now: Arc<Notify>,
    answered: Mutex<Answered>,
    poll: AbortHandle,
}

/// The questions of a task that were answered.
#[derive(Default)]
struct Answered {
    rounds: usize,
    keys: BTreeSet<String>,
}

impl RemoteTask {
    /// Follows a task of a server, which is first asked for its state after `first`.
    ///
    /// # Errors
    /// Returns an error if the id is too long.
    pub(super) fn new(
        imported: Arc<Imported>,
        stored: Stored,
        status: Option<String>,
        first: Duration,
    ) -> Result<Self, ToolErrorKind> {
        if stored.id.len() > MAX_ID {
            let server = imported.name();
            let length = stored.id.len();
            let message = format!(
                "the MCP server {server} named a task with an id of {length} bytes; at most {MAX_ID} are kept"
            );
            return Err(ToolErrorKind::ExecutionFailed { message });
        }
        let stored = Arc::new(stored);
        let seen = Arc::new(watch::Sender::new(Seen::Working { status }));
        let now = Arc::new(Notify::new());
        let expiry = stored.expires_ms.map(Duration::from_millis);
        let left = expiry.map(|at| at.saturating_sub(since_1970()));
        // A time beyond the clock's range is never over.
        let expires = left.and_then(|left| Instant::now().checked_add(left));
        let poll = Poll {
            imported: imported.clone(),
            stored: stored.clone(),
            seen: seen.clone(),
            now: now.clone(),
            interval: first,
            expires,
        };
        let poll = tokio::spawn(poll.run()).abort_handle();
        Ok(Self {
            imported,
            stored,
            seen,
            now,
            answered: Mutex::default(),
            poll,
        })
    }

    /// Returns the result of the task if it has ended.
    pub(super) fn outcome(&self) -> Result<ToolResult, ToolErrorKind> {
        self.seen.borrow().result(self.imported.name())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.seen.borrow().has_ended()
    }

    /// Waits up to `wait` for the end. Questions go to the person of the call.
    async fn attend_for(&self, cx: &ToolContext, wait: Duration) {
        let mut until = Instant::now().checked_add(wait);
        let mut seen = self.seen.subscribe();
        let mut told = None;
        loop {
            let latest = seen.borrow_and_update().clone();
            match latest {
                Seen::Asking(requests) => {
                    let asked = Instant::now();
                    self.answer(cx, &requests).await;
                    until = until.and_then(|until| until.checked_add(asked.elapsed()));
                }
                Seen::Working { status } => {
                    if let Some(status) = status.as_ref().filter(|_| status != told) {
                        cx.report(Progress::message(status.as_str()));
                    }
                    told = status;
                }
                _ => return,
            }
            tokio::select! {
                // The sender is in `self`, so the channel is open.
                _ = seen.changed() => {}
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return,
            }
        }
    }

    /// Answers the questions that are new. A task whose questions cannot be answered is cancelled, and has failed.
    async fn answer(&self, cx: &ToolContext, requests: &InputRequests) {
        let mut answered = self.answered.lock().await;
        let mut new = requests.clone();
        new.retain(|key, _| !answered.keys.contains(key));
        if new.is_empty() {
            return;
        }
        answered.rounds += 1;
        let keys: Vec<_> = new.keys().cloned().collect();
        let responses = if answered.rounds > MAX_ROUNDS {
            let reason = format!("asked for input more than {MAX_ROUNDS} times in one task");
            Err(rounds::fail(&self.imported, &reason))
        } else {
            rounds::responses(&self.imported, cx, new).await
        };
        // The answers to questions that were cut off by the end of the call are none.
        if cx.is_cancelled() {
            return;
        }
        let responses = match responses {
            Ok(responses) => responses,
            Err(kind) => {
                self.cancel();
                self.seen.send_replace(Seen::failed(kind));
                return;
            }
        };
        let Ok(peer) = self.imported.listed_peer().await else {
            return;
        };
        let params = UpdateTaskParams::new(&*self.stored.id, responses);
        // If they do not arrive, the server asks again.
        if let Ok(Ok(())) = timeout(MESSAGE, peer.update_task(params)).await {
            answered.keys.extend(keys);
        }
        self.now.notify_one();
    }
}

impl Task for RemoteTask {
    fn title(&self) -> String {
        format!("at the MCP server {}", self.imported.name())
    }

    fn state(&self) -> TaskState {
        self.seen.borrow().state()
    }

    fn wait_end(&self) -> TaskFuture<'_, ()> {
        Box::pin(async {
            // The sender is in `self`, so the channel is open.
            let _ = self.seen.subscribe().wait_for(Seen::has_ended).await;
        })
    }

    fn attend<'a>(&'a self, cx: &'a ToolContext, wait: Duration) -> TaskFuture<'a, ()> {
        Box::pin(self.attend_for(cx, wait))
    }

    fn result<'a>(&'a self, _: &'a ToolContext) -> TaskFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(std::future::ready(self.outcome().map_err(ToolError::from)))
    }

    fn cancel(&self) {
        // Without a runtime the connection has ended too.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if self.has_ended() {
            return;
        }
        let imported = self.imported.clone();
        let now = self.now.clone();
        let params = CancelTaskParams::new(&*self.stored.id);
        runtime.spawn(async move {
            let told = async {
                let peer = imported.listed_peer().await.ok()?;
                peer.cancel_task(params).await.ok()
            };
            // The next state says whether it has ended.
            let _ = timeout(MESSAGE, told).await;
            now.notify_one();
        });
    }

    fn to_stored(&self) -> Option<Json> {
        if matches!(*self.seen.borrow(), Seen::Lost { .. }) {
            return None;
        }
        Json::from_serialize(&*self.stored).ok()
    }
}

pub(super) fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

impl Drop for RemoteTask {
    fn drop(&mut self) {
        self.poll.abort();
    }
}

/// Returns the task of an earlier process at the server with its name, or a lost one. It stays stored if its server may be one of a later session.
pub(crate) fn restore(
    stored: &StoredTask,
    server: impl FnOnce(&str) -> Option<Arc<Imported>>,
) -> Arc<dyn Task> {
    let lost = match stored.data.deserialize::<Stored>() {
        Ok(data) => match server(&data.server) {
            Some(server) => match RemoteTask::new(server, data, None, Duration::ZERO) {
                Ok(task) => return Arc::new(task),
                Err(error) => Lost::new(&*stored.title, error.to_string()),
            },
            None => {
                let server = data.server;
                let reason =
                    format!("the MCP server {server:?} is not one of this session any more");
                Lost::unreachable(stored, reason)
            }
        },
        Err(error) => Lost::new(&*stored.title, format!("its data is unknown: {error}")),
    };
    Arc::new(lost)
}
