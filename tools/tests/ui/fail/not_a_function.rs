use tools::tool;

/// A thing.
#[tool(pure)]
struct Thing {
    field: u8,
}

fn main() {}
