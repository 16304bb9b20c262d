use tools::tool;

/// Adds.
#[tool(pure)]
fn add(
    /// Both.
    (a, b): (i64, i64),
) -> i64 {
    a + b
}

fn main() {}
