use tools::tool;

/// Shows a thing.
#[tool(pure)]
fn show(
    /// The thing.
    thing: impl ToString,
) -> String {
    thing.to_string()
}

fn main() {}
