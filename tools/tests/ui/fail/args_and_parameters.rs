use tools::tool;

#[derive(serde::Deserialize, tools::JsonSchema)]
#[schemars(crate = "tools::schemars")]
struct Search {}

/// Searches.
#[tool(pure)]
fn search(
    #[args] search: Search,
    /// How many.
    limit: u32,
    #[args] again: Search,
) {
    drop((search, limit, again));
}

fn main() {}
