//! Note: tells the model about arguments that the tool ignored.

use protocol::{Content, ToolResult};

use crate::schema::{Misspelt, quote};
use crate::{Entry, ToolContext};

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
