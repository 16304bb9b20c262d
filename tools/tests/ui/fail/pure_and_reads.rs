use tools::tool;

/// Reads a file.
#[tool(pure, reads = "fs:a")]
fn read() {}

fn main() {}
