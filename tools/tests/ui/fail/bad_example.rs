use tools::tool;

/// Does nothing.
#[tool(pure, example([1, 2]), example({} => ), example = 1)]
fn nothing() {}

fn main() {}
