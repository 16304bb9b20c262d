//! `task.list`, `task.result` and `task.cancel`: work that goes on after the call that started it.

use std::time::Duration;

use tools::{Content, Task, Tasks, ToolContext, ToolError, ToolResult, tool};

/// The time in which a cancelled task can end.
const END: Duration = Duration::from_secs(5);

/// Lists your tasks: programs, calls and sub-agents that go on in the background. Each line has handle, state, tool and title.
#[tool(
    name = "task.list",
    title = "List background tasks",
    reads = "task:list",
    needs = Tasks,
    tags = ["session"],
    example({}),
)]
pub(crate) async fn list(cx: &ToolContext) -> Result<String, ToolError> {
    let tasks = cx.need::<Tasks>()?.list();
    let lines = tasks.iter().map(|task| {
        let handle = &task.handle;
        let state = &task.state;
        let tool = &task.tool;
        let title = &task.title;
        format!("{handle}: {state}: {tool}: {title}")
    });
    let lines: Vec<_> = lines.collect();
    Ok(if lines.is_empty() {
        "[no tasks]".to_owned()
    } else {
        lines.join("\n")
    })
}

/// Returns the result of a background task, or its state if it has not ended. If the task has a question for the user, it is asked now.
// A read: the result belongs to the call that started the task, which was authorised.
#[tool(
    name = "task.result",
    title = "Read the result of a background task",
    reads = "task:{task}",
    needs = Tasks,
    tags = ["session"],
    max_output = "64KiB",
    timeout = "310s",
    example({"task": "t1"}),
    example({"task": "t1", "wait": 60}),
)]
pub(crate) async fn result(
    cx: &ToolContext,
    /// The handle of the task.
    task: String,
    /// The seconds to wait for the end of the task. 0 does not wait.
    #[serde(default)]
    #[schemars(range(max = 300))]
    wait: u32,
) -> Result<ToolResult, ToolError> {
    let tasks = cx.need::<Tasks>()?;
    let found = tasks.find(&task)?;
    found.attend(cx, Duration::from_secs(wait.into())).await;
    answer(cx, &tasks, &task, &*found).await
}

/// Cancels a background task, and returns what it leaves. The handle is then gone.
///
/// A program ends at once with all its processes. Another party may take its time, or finish the work anyway.
#[tool(
    name = "task.cancel",
    title = "Cancel a background task",
    writes = "task:{task}",
    needs = Tasks,
    tags = ["session"],
    max_output = "64KiB",
    example({"task": "t1"}),
)]
pub(crate) async fn cancel(
    cx: &ToolContext,
    /// The handle of the task.
    task: String,
) -> Result<ToolResult, ToolError> {
    let tasks = cx.need::<Tasks>()?;
    let found = tasks.find(&task)?;
    found.cancel();
    // The state says whether it has ended.
    let _ = tokio::time::timeout(END, found.wait_end()).await;
    let left = answer(cx, &tasks, &task, &*found).await;
    tasks.remove(&task);
    // A cancelled task has no result, which is no failure here.
    Ok(left.unwrap_or_else(|_| ToolResult::text(format!("[{task}: {}]", found.state()))))
}

/// Returns the result of a task that has ended, or the state.
async fn answer(
    cx: &ToolContext,
    tasks: &Tasks,
    handle: &str,
    task: &dyn Task,
) -> Result<ToolResult, ToolError> {
    let state = task.state();
    if !state.has_ended() {
        tasks.set_told(handle);
        return Ok(ToolResult::text(format!("[{handle}: {state}]")));
    }
    let mut result = tasks.result(cx, handle).await?;
    result
        .content
        .insert(0, Content::text(format!("[{handle}: {state}]")));
    Ok(result)
}
