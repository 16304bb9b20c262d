//! A crate of tools. Whoever links it has them: see `main.rs` beside it.

use serde::Serialize;
use tools::{Catalog, RegisterError, tool};

/// What a text measures.
#[derive(Serialize)]
pub struct Measure {
    words: usize,
    characters: usize,
}

/// Counts the words and the characters of a text.
#[tool(name = "text.measure", pure, example({"text": "to be or not"} => {"words": 4, "characters": 12}))]
pub fn measure(
    /// The text.
    text: String,
) -> Measure {
    Measure { words: text.split_whitespace().count(), characters: text.chars().count() }
}

/// Puts a text into upper case.
#[tool(name = "text.shout", pure)]
pub fn shout(
    /// The text.
    text: String,
    /// How many exclamation marks to add.
    #[serde(default)]
    marks: u8,
) -> String {
    text.to_uppercase() + &"!".repeat(marks.into())
}

/// Adds the tools to a catalog by hand: for tests, and for hosts where link-time registration does not run.
///
/// # Errors
/// [`RegisterError`] when one of the names is taken.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&MEASURE_TOOL, &SHOUT_TOOL])
}
