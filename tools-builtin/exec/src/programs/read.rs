//! `exec.read`: reads the output of a background program.

use std::time::Duration;

use tools::{Task as _, Tasks, ToolContext, ToolError, tool};

use super::program::{Program, find};

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

/// Writes text to the standard input of a background program, and returns the output that follows.
///
/// A program reads most input by lines, so end the text with a line break. On a terminal, `"\u0003"` is ctrl-c, `"\u001b[A"` is the key
/// up, and so on.
#[tool(
    name = "exec.write",
    title = "Write to a background program",
    writes = "program:{handle}",
    needs = Tasks,
    tags = ["programs"],
    max_output = "64KiB",
    timeout = "90s",
    example({"handle": "t1", "text": "print(6 * 7)\n"}),
    example({"handle": "t1", "end": true}),
)]
pub(crate) async fn write(
    cx: &ToolContext,
    /// The handle of the program, from its start.
    handle: String,
    /// The text, written as it is.
    #[serde(default)]
    #[schemars(length(max = 65_536))]
    text: String,
    /// True to end the input after the text. On a terminal this is ctrl-d, which ends the input at the beginning of a line.
    #[serde(default)]
    end: bool,
    /// The seconds to wait for output. 0 does not wait.
    #[serde(default = "default_wait")]
    #[schemars(range(max = 60))]
    wait: u32,
) -> Result<String, ToolError> {
    let tasks = cx.need::<Tasks>()?;
    let program = find(&tasks, &handle)?;
    if text.is_empty() && !end {
        return Err(ToolError::execution_failed(
            "there is nothing to write; give text, or end",
        ));
    }
    if let Some(input) = program.input.as_ref().filter(|_| !text.is_empty()) {
        input.check(cx, &text).await?;
    }
    if !text.is_empty() {
        program.write(&text).await?;
    }
    if end {
        program.end_input().await?;
    }
    if wait > 0 {
        program.settle(Duration::from_secs(wait.into())).await;
    }
    tasks.set_told(&handle);
    program.report(cx, &handle, &[]).await
}

/// Lists the background programs that you started: handle, state and command line.
#[tool(
    name = "exec.list",
    title = "List background programs",
    reads = "program:list",
    needs = Tasks,
    tags = ["programs"],
    example({}),
)]
pub(crate) async fn list(cx: &ToolContext) -> Result<String, ToolError> {
    let programs = cx.need::<Tasks>()?.list_as::<Program>();
    let lines: Vec<_> = programs
        .iter()
        .map(|(handle, program)| format!("{handle}: {}: {}", program.state(), program.command))
        .collect();
    Ok(if lines.is_empty() {
        "[no background programs]".to_owned()
    } else {
        lines.join("\n")
    })
}
