//! [`RunningTask`]: one task, with its state as clients see it.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rmcp::model::{DetailedTask, ErrorData, JsonObject, Task, TaskPayload, TaskStatus};
use rmcp::task_manager::current_timestamp;
use serde::Serialize;
use serde_json::Value;
use tools::IgnorePoison as _;
use tools::{CancellationToken, Progress};

use crate::server::peer::{Ask, Message};
use crate::server::running::{Finished, Running, Step, Waiting, name_lacking};

/// The time between two requests of a client for the state of a task.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// One task, which may have ended.
pub(in super::super) struct RunningTask {
    pub(super) id: String,
    created_at: String,
    token: CancellationToken,
    state: Mutex<State>,
}

struct State {
    ttl: Duration,
    updated_at: String,
    status_message: Option<String>,
    waiting: Waiting,
    /// All keys of requests to the client, because a task must not use one twice.
    keys: BTreeSet<String>,
    end: Option<TaskPayload>,
}

impl RunningTask {
    /// Creates a task, which takes the open requests of the call.
    pub(super) fn new(id: String, ttl: Duration, running: &mut Running) -> Self {
        let waiting = std::mem::take(&mut running.waiting);
        let created_at = current_timestamp();
        let state = State {
            ttl,
            updated_at: created_at.clone(),
            status_message: None,
            keys: waiting.0.keys().cloned().collect(),
            waiting,
            end: None,
        };
        Self {
            id,
            created_at,
            token: running.token.clone(),
            state: Mutex::new(state),
        }
    }

    /// Returns the task as it is now.
    pub(in super::super) fn snapshot(&self) -> DetailedTask {
        let mut state = self.lock();
        let payload = state.end.clone().unwrap_or_else(|| {
            let input_requests = state.waiting.requests();
            if input_requests.is_empty() {
                TaskPayload::Working
            } else {
                TaskPayload::InputRequired { input_requests }
            }
        });
        DetailedTask::new(self.task(&state), payload)
    }

    /// Passes answers of the client to the call. Answers to unknown keys and answers of another kind are ignored.
    pub(in super::super) fn answer(&self, answers: BTreeMap<String, Value>) {
        let mut state = self.lock();
        state.waiting.answer(answers);
        state.updated_at = current_timestamp();
    }

    /// Cancels the call, which then ends soon.
    pub(in super::super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Runs the call to its end, and cancels it after `ttl`.
    pub(super) async fn run(&self, mut running: Running, ttl: Duration) -> TaskPayload {
        let mut expiry = pin!(tokio::time::sleep(ttl));
        let mut is_expired = false;
        let outcome = loop {
            let step = tokio::select! {
                step = running.next() => step,
                () = &mut expiry, if !is_expired => {
                    is_expired = true;
                    running.token.cancel();
                    continue;
                }
            };
            match step {
                Step::Message(Message::Ask(ask)) => self.ask(*ask),
                Step::Message(Message::Progress(progress)) => self.report(progress),
                Step::Message(_) => {}
                Step::Ended(outcome) => break outcome,
            }
        };
        match name_lacking(outcome, &running.peer) {
            Ok(Finished::Call(result)) => TaskPayload::Completed {
                result: object(&result),
            },
            _ if is_expired => fail("the time limit of the task was over"),
            _ if self.token.is_cancelled() => TaskPayload::Cancelled,
            Err(error) => TaskPayload::Failed {
                error: object(&error),
            },
            Ok(Finished::Method(_)) => fail("the call has no result"),
        }
    }

    /// Sets the end of the task, and the time that it lives altogether.
    pub(super) fn end(&self, end: TaskPayload, ttl: Duration) {
        let mut state = self.lock();
        state.waiting = Waiting::default();
        (state.end, state.ttl, state.updated_at) = (Some(end), ttl, current_timestamp());
    }

    /// Keeps a request until the client answers it, with a key that the task has not used.
    fn ask(&self, mut ask: Ask) {
        let mut state = self.lock();
        if state.keys.contains(&ask.key) {
            let numbered = (2_usize..).map(|number| format!("{}-{number}", ask.key));
            ask.key = numbered
                .into_iter()
                .find(|key| !state.keys.contains(key))
                .unwrap_or_default();
        }
        state.keys.insert(ask.key.clone());
        state.waiting.add(ask);
        state.updated_at = current_timestamp();
    }

    /// Sets the status that clients see.
    pub(super) fn report(&self, progress: Progress) {
        let amount = match (progress.done, progress.total) {
            (Some(done), Some(total)) => Some(format!("{done} of {total}")),
            (done, _) => done.map(|done| done.to_string()),
        };
        let mut state = self.lock();
        state.status_message = progress.message.or(amount);
        state.updated_at = current_timestamp();
    }

    fn task(&self, state: &State) -> Task {
        let mut task = Task::new(
            &self.id,
            TaskStatus::Working,
            &self.created_at,
            &state.updated_at,
        );
        task.status_message.clone_from(&state.status_message);
        task.with_ttl_ms(millis(state.ttl))
            .with_poll_interval_ms(millis(POLL_INTERVAL))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }
}

/// Returns the largest number of milliseconds that a client reads exactly, if there are more.
fn millis(time: Duration) -> u64 {
    const MAX: u64 = (1 << 53) - 1;
    u64::try_from(time.as_millis()).map_or(MAX, |millis| millis.min(MAX))
}

/// Returns the end of a task that failed for a reason of the server.
pub(super) fn fail(reason: &'static str) -> TaskPayload {
    TaskPayload::Failed {
        error: object(&ErrorData::internal_error(reason, None)),
    }
}

/// Returns the size of the result, in bytes.
pub(super) fn size(end: &TaskPayload) -> usize {
    match end {
        TaskPayload::Completed { result } => {
            serde_json::to_vec(result).map_or(usize::MAX, |json| json.len())
        }
        _ => 0,
    }
}

fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}
