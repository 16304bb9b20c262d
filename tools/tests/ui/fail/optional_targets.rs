use tools::tool;

/// Reads a file, or none.
#[tool(reads = "fs:{path}")]
fn optional(
    /// The file.
    path: Option<String>,
) {
    drop(path);
}

type Maybe<T> = Option<T>;

/// Reads a file, or none.
#[tool(reads = "fs:{path}")]
fn alias(
    /// The file.
    #[serde(default)]
    path: Maybe<String>,
) {
    drop(path);
}

fn main() {}
