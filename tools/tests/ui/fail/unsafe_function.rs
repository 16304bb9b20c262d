use tools::tool;

/// Does nothing.
#[tool(pure)]
unsafe fn nothing() {}

fn main() {}
