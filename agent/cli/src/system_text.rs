//! The system text of a session.

use std::collections::BTreeMap;

use agent::{SystemText, ToolSet, tool_guidance};
use tools::ToolContext;

use crate::instructions;
use crate::memory;
use crate::notice;
use crate::skills;
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
    let mut sections: BTreeMap<_, _> = host::sections(cx, &|name| tools.contains(name))
        .into_iter()
        .map(|(name, section)| (name, section.unwrap_or_else(warn)))
        .collect();
    let mut take = |name| sections.remove(name).unwrap_or_default();
    let text = SystemText::new()
        .with_section("identity", IDENTITY)
        .with_section("workspace", take("workspace"))
        .with_section(
            "instructions",
            instructions.map(instructions::section).unwrap_or_default(),
        )
        .with_section("memories", memory::digest(cx))
        .with_section("skills", skills::section(cx, tools))
        .with_section("channels", take("channels"));
    sections
        .into_iter()
        .fold(text, |text, (name, section)| {
            text.with_section(name, section)
        })
        .with_tool_section("tools", tool_guidance)
}

fn warn(warning: String) -> String {
    notice::warning(&warning);
    String::new()
}
