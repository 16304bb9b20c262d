use tools::tool;

/// Adds.
#[tool(pure)]
fn add(a: i64, /** The other. */ b: i64) -> i64 {
    a + b
}

fn main() {}
