//! Note: tells the model about arguments that the tool ignored, and about the present name of a renamed tool.

use protocol::{Content, ToolResult};

use crate::schema::{Misspelt, quote};
use crate::{Entry, Execution, ToolContext, ToolError};

/// Adds a note for each misspelt argument to a result. The result of a nested call is for a tool, which may parse it, so it has none.
pub(super) fn add(result: &mut ToolResult, entry: &Entry, caller: &ToolContext, misspelt: &[Misspelt]) {
    if misspelt.is_empty() || caller.depth() > 0 {
        return;
    }
    let spelling = entry.spelling(caller.wire());
    let tool = spelling.tool(entry.name());
    result.content.extend(misspelt.iter().map(|Misspelt { given, near }| {
        let (given, near) = (quote(given, 128), quote(spelling.argument(near), 128));
        Content::text(format!("note: {given} is not a parameter of {tool}; did you mean {near}?"))
    }));
}

/// Returns the note for a call with a former name of the tool. Returns `None` for a nested call.
pub(super) fn former_name(entry: &Entry, caller: &ToolContext, former: &str) -> Option<Content> {
    if caller.depth() > 0 {
        return None;
    }
    let spelling = entry.spelling(caller.wire());
    let (former, present) = (spelling.tool(former), spelling.tool(entry.name()));
    Some(Content::text(format!("note: {former} is now called {present}; use the new name")))
}

/// Runs a call and adds a note to its result. The journal stores the result without it, and a replayed call gets it again.
pub(super) async fn with(note: Content, call: Execution) -> Result<ToolResult, ToolError> {
    let mut result = call.await?;
    result.content.push(note);
    Ok(result)
}
