//! `exec.stop`: ends a background program.

use tools::{Tasks, ToolContext, ToolError, tool};

use super::program::find;

/// Ends a background program with all processes that it started, and returns the rest of its output. The handle is then gone.
///
/// The program gets no chance to clean up. To ask a program on a terminal first, write `"\u0003"` to it.
#[tool(
    name = "exec.stop",
    title = "Stop a background program",
    writes = "program:{handle}",
    needs = Tasks,
    tags = ["programs"],
    max_output = "64KiB",
    example({"handle": "t1"}),
)]
pub(crate) async fn stop(
    cx: &ToolContext,
    /// The handle of the program, from its start.
    handle: String,
) -> Result<String, ToolError> {
    let tasks = cx.need::<Tasks>()?;
    let program = find(&tasks, &handle)?;
    program.stop().await;
    let report = program.report(cx, &handle, &[]).await?;
    tasks.remove(&handle);
    Ok(report)
}
