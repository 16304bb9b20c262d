//! `tools.call`: calls a tool whose definition a request does not have.

use serde_json::{Map, Value};
use tools::{ToolContext, ToolError, ToolResult, tool};

use crate::ToolFinder;

/// Calls any of your tools by name, such as one that a search found. It is the call of that tool, with its own permissions, questions to
/// the user and result.
// Pure: a driver runs the named call in place of this one. If another tool makes it, the named call is nested and passes the pipeline too.
#[tool(
    name = "tools.call",
    title = "Call a found tool",
    pure,
    needs = ToolFinder,
    timeout = "60m",
    delegates,
    tags = ["session"],
    example({"name": "todo.write", "arguments": {"items": [{"text": "Find it", "status": "active"}]}}),
    example({"name": "todo.read"}),
)]
pub(crate) async fn call(
    cx: &ToolContext,
    /// The name of the tool, as the search returned it.
    name: String,
    /// The arguments, as the parameters of that tool define them.
    // They may have secrets of the named tool, so nothing shows them as those of this one.
    #[serde(default)]
    #[schemars(extend("writeOnly" = true))]
    arguments: Map<String, Value>,
) -> Result<ToolResult, ToolError> {
    cx.execute(&name, Value::Object(arguments)).await
}
