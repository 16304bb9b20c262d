use tools::tool;

/// Shows a thing.
#[tool(pure)]
fn show<'a>(cx: &'a tools::ToolContext) -> String {
    cx.depth().to_string()
}

fn main() {}
