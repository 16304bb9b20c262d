//! [`Tasks`]: calls that go on after their request was answered.

mod task;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ErrorData, Task};
use tokio::time::Instant;
use tools::{CancellationToken, Progress};

use self::task::RunningTask;
use super::calls::random_handle;
use super::running::Running;

/// The size of all results that ended tasks keep, in bytes.
const MAX_RESULT_BYTES: usize = 64 * 1024 * 1024;

/// The time that a result stays at least, if tasks may live that long.
const KEPT: Duration = Duration::from_secs(300);

/// The limits of tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct TaskLimits {
    /// The time after which a call becomes a task.
    pub(super) after: Duration,
    /// The time after which a task is cancelled.
    pub(super) ttl: Duration,
    /// The number of tasks, ended ones included.
    pub(super) max: usize,
}

/// The calls that go on after their request was answered, by their ids. An id is an unguessable handle.
///
/// `rmcp`'s `TaskManager` bounds neither the number of ended tasks nor the size of their results, and discards expired ones only when a
/// client asks for another.
#[derive(Clone)]
pub(super) struct Tasks(Arc<Inner>);

struct Inner {
    limits: TaskLimits,
    table: Mutex<Table>,
    closed: CancellationToken,
}

#[derive(Default)]
struct Table {
    tasks: HashMap<String, Arc<RunningTask>>,
    result_bytes: usize,
}

impl Tasks {
    pub(super) fn new(limits: TaskLimits) -> Self {
        Self(Arc::new(Inner { limits, table: Mutex::default(), closed: CancellationToken::new() }))
    }

    /// Lets a call go on as a task, which begins with the last progress of the call. Returns the call if there are too many tasks, or none may begin.
    pub(super) fn start(&self, mut running: Running, last: Option<Progress>) -> Result<Task, Box<Running>> {
        let mut table = self.lock();
        let is_full = table.tasks.len() >= self.0.limits.max || self.0.closed.is_cancelled();
        let Some(id) = (!is_full).then(random_handle).flatten() else { return Err(Box::new(running)) };
        let task = Arc::new(RunningTask::new(id.clone(), self.0.limits.ttl, &mut running));
        if let Some(progress) = last {
            task.report(progress);
        }
        let seed = task.seed();
        table.tasks.insert(id, task.clone());
        drop(table);
        tokio::spawn(self.clone().run(task, running));
        Ok(seed)
    }

    /// Returns the task of an id.
    ///
    /// # Errors
    /// Returns an error of the protocol if the id is unknown.
    pub(super) fn find(&self, id: &str) -> Result<Arc<RunningTask>, ErrorData> {
        let message = "the task is unknown or expired; call the tool anew";
        self.lock().tasks.get(id).cloned().ok_or_else(|| ErrorData::invalid_params(message, None))
    }

    /// Cancels and forgets all tasks. No further one begins.
    pub(super) fn close(&self) {
        let mut table = self.lock();
        self.0.closed.cancel();
        for (_, task) in table.tasks.drain() {
            task.cancel();
        }
    }

    /// Runs a task to its end and keeps its result for a time.
    async fn run(self, task: Arc<RunningTask>, running: Running) {
        let (started, ttl) = (Instant::now(), self.0.limits.ttl);
        let end = task.run(running, ttl).await;
        let lived = started.elapsed();
        let rest = ttl.saturating_sub(lived).max(ttl.min(KEPT));
        let bytes = {
            let mut table = self.lock();
            let bytes = task.end(end, lived.saturating_add(rest), MAX_RESULT_BYTES - table.result_bytes);
            table.result_bytes += bytes;
            bytes
        };
        self.0.closed.run_until_cancelled(tokio::time::sleep(rest)).await;
        let mut table = self.lock();
        table.result_bytes -= bytes;
        table.tasks.remove(task.id());
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
