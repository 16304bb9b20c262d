use tools::tool;

/// Does nothing.
#[tool(pure)]
fn nothing(#[serde(default)] _cx: &tools::ToolContext) {}

fn main() {}
