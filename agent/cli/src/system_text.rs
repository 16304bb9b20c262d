//! The system text of a session.

use agent::{SystemText, ToolSet, tool_guidance};
use tools::ToolContext;

use crate::{instructions, notice};
use host::trust::Content;

const IDENTITY: &str = "You are the agent of Toolcrib, a program that runs your tool calls and returns their results. You can \
act and see only through tools: an action without a call has not happened, and you know only the content of results. Do the \
task that the user gives you, and no more. When it is done, report it in a few plain sentences, and name the parts that you \
could not do.";

/// Builds the system text of a session with this context, these tools and these instructions of the workspace.
pub(crate) fn build(
    cx: &ToolContext,
    tools: &ToolSet,
    instructions: Option<&Content>,
) -> SystemText {
    let sections = host::sections(cx, &|name| tools.contains(name));
    // The paths in instructions are those of the workspace.
    let (workspace, others): (Vec<_>, Vec<_>) = sections
        .into_iter()
        .partition(|(name, _)| *name == "workspace");
    let text = SystemText::new().with_section("identity", IDENTITY);
    let text = with_sections(text, workspace).with_section(
        "instructions",
        instructions
            .map(|content| instructions::section(&content.text))
            .unwrap_or_default(),
    );
    with_sections(text, others).with_tool_section("tools", tool_guidance)
}

/// Adds sections of families. An error is a warning for the person.
fn with_sections(
    text: SystemText,
    sections: Vec<(&'static str, Result<String, String>)>,
) -> SystemText {
    sections.into_iter().fold(text, |text, (name, section)| {
        let section = section.unwrap_or_else(|warning| {
            notice::warning(&warning);
            String::new()
        });
        text.with_section(name, section)
    })
}
