//! The system text of a session.

use agent::{SystemText, ToolSet, tool_guidance};
use tools::ToolContext;

use crate::instructions;
use crate::notice;
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
    let text = SystemText::new()
        .with_section("identity", IDENTITY)
        .with_section("workspace", workspace(cx))
        .with_section(
            "instructions",
            instructions.map(instructions::section).unwrap_or_default(),
        );
    let families = host::sections(cx, &|name| tools.contains(name));
    let text = families.into_iter().fold(text, |text, (name, section)| {
        let section = section.unwrap_or_else(|warning| {
            notice::warning(&warning);
            String::new()
        });
        text.with_section(name, section)
    });
    text.with_section("channels", channels(cx))
        .with_tool_section("tools", tool_guidance)
}

/// Returns the names of the channels of the settings, which the definition of `message.send` does not have.
#[cfg(feature = "default")]
fn channels(cx: &ToolContext) -> String {
    let channels = cx.service::<tools_builtin::message::Channels>();
    let names: Vec<_> = channels
        .iter()
        .flat_map(|channels| channels.names())
        .collect();
    match names[..] {
        // Every program has the terminal.
        [] | ["terminal"] => String::new(),
        _ => format!("The channels of `message.send` are: {}.", names.join(", ")),
    }
}

#[cfg(not(feature = "default"))]
fn channels(_cx: &ToolContext) -> String {
    String::new()
}

/// Returns the description of the workspace.
#[cfg(feature = "builtin")]
fn workspace(cx: &ToolContext) -> String {
    let Some(workspace) = cx.service::<tools_builtin::fs::Workspace>() else {
        return String::new();
    };
    let root = workspace.root().to_string_lossy();
    format!(
        "The workspace is the directory {}. File tools take and return paths relative to it, such as src/main.rs; the workspace \
         itself is `.`. File tools cannot reach anything outside it.",
        crate::visible::visible(&root)
    )
}

#[cfg(not(feature = "builtin"))]
fn workspace(_cx: &ToolContext) -> String {
    String::new()
}
