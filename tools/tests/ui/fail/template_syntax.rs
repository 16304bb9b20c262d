use tools::tool;

/// Copies.
#[tool(reads = "fs:{path", writes = ["path", "fs:../{path}"], destroys = "net:{path|domain}")]
fn copy(
    /// The file.
    path: String,
) -> String {
    path
}

fn main() {}
