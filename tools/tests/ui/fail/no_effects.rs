use tools::tool;

/// Reads a file.
#[tool]
fn read(
    /// The file.
    path: String,
) -> String {
    path
}

fn main() {}
