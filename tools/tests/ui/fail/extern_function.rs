use tools::tool;

/// Does nothing.
#[tool(pure)]
extern "C" fn nothing() {}

fn main() {}
