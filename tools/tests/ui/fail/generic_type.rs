use tools::tool;

/// Shows a thing.
#[tool(pure)]
fn show<T: ToString, const N: usize>(
    /// The thing.
    thing: T,
) -> String
where
    T: Clone,
{
    thing.to_string()
}

fn main() {}
