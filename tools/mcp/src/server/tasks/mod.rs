//! [`Tasks`]: calls that go on after their request was answered.

mod task;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rmcp::model::{ErrorData, Task};
use tokio::time::Instant;
use tools::IgnorePoison as _;
use tools::{CancellationToken, Progress};

use crate::server::options::ServerLimits;
use crate::server::running::Running;
use crate::server::suspended::random_handle;
use crate::server::tasks::task::{RunningTask, fail, size};

/// The time that a result stays at least, if tasks may live that long.
const KEPT: Duration = Duration::from_secs(300);

/// The calls that go on after their request was answered, by their ids. An id is an unguessable handle.
///
/// `rmcp`'s `TaskManager` bounds neither the number of ended tasks nor the size of their results, and discards expired ones only when a
/// client asks for another.
#[derive(Clone)]
pub(super) struct Tasks(Arc<Inner>);

struct Inner {
    limits: ServerLimits,
    max_result_bytes: usize,
    table: Mutex<Table>,
    closed: CancellationToken,
}

#[derive(Default)]
struct Table {
    tasks: HashMap<String, Arc<RunningTask>>,
    result_bytes: usize,
}

impl Tasks {
    /// Creates an empty table. The results of all ended tasks have at most so many bytes.
    pub(super) fn new(limits: ServerLimits, max_result_bytes: usize) -> Self {
        Self(Arc::new(Inner {
            limits,
            max_result_bytes,
            table: Mutex::default(),
            closed: CancellationToken::new(),
        }))
    }

    /// Lets a call go on as a task, which begins with the last progress of the call. Returns the call if there are too many tasks, or none may begin.
    pub(super) fn start(
        &self,
        mut running: Running,
        last: Option<Progress>,
    ) -> Result<Task, Box<Running>> {
        // Held until the task is in the table, so that `close` misses none.
        let mut table = self.lock();
        let is_full = table.tasks.len() >= self.0.limits.max_tasks || self.0.closed.is_cancelled();
        let Some(id) = (!is_full).then(random_handle).flatten() else {
            return Err(Box::new(running));
        };
        let ttl = self.0.limits.task_ttl;
        let task = Arc::new(RunningTask::new(id.clone(), ttl, &mut running));
        if let Some(progress) = last {
            task.report(progress);
        }
        let seed = task.snapshot().task;
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
        let found = self.lock().tasks.get(id).cloned();
        found.ok_or_else(|| ErrorData::invalid_params(message, None))
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
        let started = Instant::now();
        let ttl = self.0.limits.task_ttl;
        let mut end = task.run(running, ttl).await;
        // Without the lock of the table, so that the measuring holds up no other task.
        let mut bytes = size(&end);
        if !self.reserve(bytes) {
            end = fail("the results of tasks take too much memory; call the tool again later");
            bytes = 0;
        }
        let lived = started.elapsed();
        let rest = ttl.saturating_sub(lived).max(ttl.min(KEPT));
        task.end(end, lived.saturating_add(rest));
        self.0
            .closed
            .run_until_cancelled(tokio::time::sleep(rest))
            .await;
        let mut table = self.lock();
        table.result_bytes -= bytes;
        table.tasks.remove(&task.id);
    }

    /// Counts the bytes of a result. Returns false if the results would be too large.
    fn reserve(&self, bytes: usize) -> bool {
        let mut table = self.lock();
        let fits = bytes <= self.0.max_result_bytes - table.result_bytes;
        if fits {
            table.result_bytes += bytes;
        }
        fits
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().ignore_poison()
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolResult, ContentBlock, TaskPayload};
    use serde_json::json;
    use tokio_util::task::TaskTracker;

    use super::super::peer::Peer;
    use super::super::permit::Permits;
    use super::super::running::{AskedOf, Finished};
    use super::*;

    /// Returns a call that ends at once with this text.
    fn answered(text: String) -> Running {
        let asked = AskedOf {
            method: "tools/call",
            name: "a".to_owned(),
            params: json!({}).into(),
        };
        let permit = Permits::new(1, 1).begin().unwrap();
        let peer = Peer::new(
            rmcp::model::ClientCapabilities::default(),
            true,
            [].into(),
            permit.clone(),
        );
        let result = CallToolResult::success(vec![ContentBlock::text(text)]);
        let work = Box::pin(async { Ok(Finished::Call(result)) });
        Running::new(
            asked,
            peer,
            CancellationToken::new(),
            (permit, TaskTracker::new().token()),
            work,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn the_memory_of_results_is_limited_until_they_expire() {
        let ttl = Duration::from_secs(60);
        let limits = ServerLimits {
            task_ttl: ttl,
            max_tasks: 9,
            ..ServerLimits::default()
        };
        let tasks = Tasks::new(limits, 1000);
        for round in 0..3 {
            let mut ended = Vec::new();
            for _ in 0..3 {
                let Ok(task) = tasks.start(answered("x".repeat(400)), None) else {
                    panic!("{round}")
                };
                tokio::time::sleep(Duration::from_secs(1)).await;
                ended.push(tasks.find(&task.task_id).unwrap().snapshot().payload);
            }
            assert!(
                matches!(
                    &ended[..2],
                    [TaskPayload::Completed { .. }, TaskPayload::Completed { .. }]
                ),
                "{ended:?}"
            );
            assert!(matches!(&ended[2], TaskPayload::Failed { .. }), "{ended:?}");
            tokio::time::sleep(ttl).await;
        }
    }
}
