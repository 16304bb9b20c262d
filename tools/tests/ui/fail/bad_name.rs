use tools::tool;

/// Reads a file.
#[tool(name = "read file", pure)]
fn read() {}

/// Reads a file.
#[tool(pure)]
fn größe() {}

fn main() {}
