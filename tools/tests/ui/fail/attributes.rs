use tools::tool;

/// Does nothing.
#[tool(pure, example([1, 2]), example({} => ), example = 1)]
fn bad_example() {}

/// Reads a file.
#[tool(name = "read file", pure)]
fn bad_name() {}

/// Reads a file.
#[tool(pure)]
fn größe() {}

/// Does nothing.
#[tool(pure, timeout = "30 seconds", max_output = "64KB", title = "", tags = [], needs)]
fn bad_values() {}

/// Does nothing.
#[tool(pure, blocking)]
async fn blocking_async() {}

/// Does nothing.
#[tool(pure, title = "A", title = "B", pure)]
fn duplicate_attribute() {}

/// Does nothing.
#[tool(pure, tiemout = "30s", colour = "red")]
fn unknown_attribute() {}

/// Reads a file.
#[tool(pure, reads = "fs:a")]
fn pure_and_reads() {}

/// Reads a file.
#[tool(idempotent)]
fn only_idempotent() {}

/// Reads a file.
#[tool]
fn no_effects(
    /// The file.
    path: String,
) -> String {
    path
}

/// Copies.
#[tool(reads = "fs:{path", writes = ["path", "fs:../{path}"], destroys = "net:{path|domain}")]
fn template_syntax(
    /// The file.
    path: String,
) -> String {
    path
}

/// Reads a file.
#[tool(reads = "fs:{pth}")]
fn unknown_template_field(
    /// The file.
    path: String,
    /// The first line.
    first: u32,
) -> String {
    format!("{path}{first}")
}

fn main() {}
