//! `tools.call`: calls a tool whose definition a request does not have.

use serde_json::{Map, Value};
use tools::{ToolContext, ToolError, ToolResult, tool};

use crate::ToolFinder;

/// Calls any of your tools by name, such as one that `tools.search` found. It is the call of that tool: with its own permissions,
/// questions to the user and result.
// Pure: a driver runs the named call in place of this one. If another tool makes it, the named call is nested and passes the pipeline too.
#[tool(
    name = "tools.call",
    title = "Call a found tool",
    pure,
    needs = ToolFinder,
    timeout = "60m",
    delegates,
    tags = ["session"],
    example({"name": "mcp:maps/route", "arguments": {"from": "Bern", "to": "Basel"}}),
)]
pub(crate) async fn call(
    cx: &ToolContext,
    /// The name of the tool, as the search returned it.
    name: String,
    /// The arguments, as the parameters of that tool define them.
    #[serde(default)]
    arguments: Map<String, Value>,
) -> Result<ToolResult, ToolError> {
    cx.execute(&name, Value::Object(arguments)).await
}
