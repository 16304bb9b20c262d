use tools::tool;

/// Says who asks.
#[tool(pure)]
fn who(cx: &tools::ToolContext) -> &str {
    cx.principal().unwrap_or("nobody")
}

fn main() {}
