//! `exec.read`: reads the output of a background program.

use std::time::Duration;

use tools::{Tasks, ToolContext, ToolError, tool};

use super::program::find;

/// Returns the output of a background program since the last answer about it, and its exit code once it has ended.
// A read: the output is the program's own, and its start was authorised.
#[tool(
    name = "exec.read",
    title = "Read from a background program",
    reads = "program:{handle}",
    needs = Tasks,
    tags = ["programs"],
    max_output = "64KiB",
    timeout = "70s",
    example({"handle": "t1"}),
    example({"handle": "t1", "wait": 30}),
)]
pub(crate) async fn read(
    cx: &ToolContext,
    /// The handle of the program, from its start.
    handle: String,
    /// The seconds to wait for output if there is none. 0 does not wait.
    #[serde(default = "default_wait")]
    #[schemars(range(max = 60))]
    wait: u32,
) -> Result<String, ToolError> {
    let tasks = cx.need::<Tasks>()?;
    let program = find(&tasks, &handle)?;
    if wait > 0 {
        program.settle(Duration::from_secs(wait.into())).await;
    }
    tasks.set_told(&handle);
    program.report(cx, &handle, &[]).await
}

/// Returns the seconds to wait if a call does not say.
pub(super) fn default_wait() -> u32 {
    1
}
