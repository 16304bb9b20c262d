use tools::tool;

/// Does nothing.
#[tool(pure)]
fn nothing(cx: &mut tools::ToolContext) {
    drop(cx.clone());
}

fn main() {}
