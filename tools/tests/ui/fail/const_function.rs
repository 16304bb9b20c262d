use tools::tool;

/// Does nothing.
#[tool(pure)]
const fn nothing() {}

fn main() {}
