use tools::tool;

/// Reads a file.
#[tool(reads = "fs:{pth}")]
fn read(
    /// The file.
    path: String,
    /// The first line.
    first: u32,
) -> String {
    format!("{path}{first}")
}

fn main() {}
