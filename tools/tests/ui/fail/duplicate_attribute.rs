use tools::tool;

/// Does nothing.
#[tool(pure, title = "A", title = "B", pure)]
fn nothing() {}

fn main() {}
