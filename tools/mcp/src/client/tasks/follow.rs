//! Goes on with a call that its server answers with a task.

use std::sync::Arc;
use std::time::Duration;

use tools::{Task, Tasks, ToolContext, ToolErrorKind, ToolResult};

use crate::client::imported::{Imported, show_text};
use crate::client::tasks::poll::{Stored, interval};
use crate::client::tasks::remote::{RemoteTask, since_1970};

/// The time in which a task can end so that the call has its result.
const QUICK: Duration = Duration::from_secs(2);

/// Follows the task of a call. If it does not end soon, the call ends with its handle. In a context that cannot keep tasks, or that has
/// too many, the call waits for its end.
pub(crate) async fn follow(
    imported: &Arc<Imported>,
    cx: &ToolContext,
    task: rmcp::model::Task,
) -> Result<ToolResult, ToolErrorKind> {
    let now_ms = u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX);
    let stored = Stored {
        server: imported.name().as_str().to_owned(),
        expires_ms: task.ttl_ms.map(|ttl| now_ms.saturating_add(ttl)),
        id: task.task_id,
    };
    let status = task.status_message.as_deref().map(show_text);
    let first = interval(task.poll_interval_ms);
    let task = Arc::new(RemoteTask::new(imported.clone(), stored, status, first)?);
    let watched = Watched(Some(task.clone()));
    let tasks = cx
        .service::<Tasks>()
        .filter(|tasks| tasks.continues_calls() && tasks.check_room().is_ok());
    if let Some(tasks) = tasks {
        task.attend(cx, QUICK).await;
        if !task.has_ended()
            && let Ok(handle) = tasks.insert(cx, task.clone())
        {
            watched.keep();
            let text = format!(
                "[{handle}: the MCP server {} goes on with this call as a task; task.result reads its result]",
                imported.name()
            );
            return Ok(ToolResult::text(text).with_task(handle));
        }
    }
    task.attend(cx, Duration::MAX).await;
    watched.keep();
    task.outcome()
}

/// A task of a running call, which is cancelled if the call ends before.
struct Watched(Option<Arc<RemoteTask>>);

impl Watched {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.cancel();
        }
    }
}
