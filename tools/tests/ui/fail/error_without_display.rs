use tools::tool;

struct Failure;

/// Fails.
#[tool(pure)]
fn fails() -> Result<u8, Failure> {
    Err(Failure)
}

fn main() {}
