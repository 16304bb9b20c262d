use tools::tool;

use tools::ToolContext;

/// Does nothing.
#[tool(pure)]
fn nothing(_a: &ToolContext, _b: ToolContext) {}

fn main() {}
