//! The tools of @name@. A program that contains `use @library@_tools as _;` has them.

use tools::tool;

/// Counts the words of a text.
#[tool(name = "text.count", pure, example({"text": "to be or not"} => 4))]
pub fn count(
    /// The text.
    text: String,
) -> usize {
    text.split_whitespace().count()
}

/// Adds the tools to a catalog, for tests.
pub fn register(catalog: &mut tools::Catalog) -> Result<(), tools::RegisterError> {
    catalog.submit(&[&COUNT_TOOL])
}
