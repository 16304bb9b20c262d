use tools::tool;

/// Does nothing.
#[tool(pure, timeout = "30 seconds", max_output = "64KB", title = "", tags = [], needs)]
fn nothing() {}

fn main() {}
