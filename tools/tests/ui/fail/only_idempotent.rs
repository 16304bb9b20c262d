use tools::tool;

/// Reads a file.
#[tool(idempotent)]
fn read() {}

fn main() {}
