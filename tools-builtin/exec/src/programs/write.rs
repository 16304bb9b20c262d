//! `exec.write`: writes to a background program.

use std::time::Duration;

use tools::{Tasks, ToolContext, ToolError, tool};

use super::program::find;
use super::read::default_wait;

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
    if let Some(input) = program.input().filter(|_| !text.is_empty()) {
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
