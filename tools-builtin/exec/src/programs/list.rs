//! `exec.list`: lists the background programs.

use tools::{Task as _, Tasks, ToolContext, ToolError, tool};

use super::program::Program;

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
        .map(|(handle, program)| format!("{handle}: {}: {}", program.state(), program.command()))
        .collect();
    Ok(if lines.is_empty() {
        "[no background programs]".to_owned()
    } else {
        lines.join("\n")
    })
}
