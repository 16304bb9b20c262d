//! All arguments as one struct, which may be taken apart in the parameter.

use serde::Deserialize;
use tools::{JsonSchema, ToolContext, tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
struct Search {
    /// What to look for.
    query: String,
    /// How many to return.
    #[serde(default)]
    limit: u32,
}

/// Searches.
#[tool(reads = "index:{query}")]
async fn search(cx: &ToolContext, #[args] Search { query, limit }: Search) -> Result<String, std::fmt::Error> {
    Ok(format!("{query} {limit} {}", cx.depth()))
}

#[test]
fn all_arguments_are_one_struct() {
    tools::Catalog::new().submit(&[&SEARCH_TOOL]).unwrap();
}
