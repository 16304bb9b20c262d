//! Tools that break one rule each, and one that keeps them all.

use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use tools::{JsonSchema, ToolError, tool};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct Span {
    /// The first line.
    #[allow(dead_code)]
    start: u32,
    #[allow(dead_code)]
    end: u32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct Undescribed {
    #[allow(dead_code)]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct Open {
    /// The text.
    #[allow(dead_code)]
    text: String,
}

#[derive(Serialize)]
pub(crate) struct Size {
    words: usize,
}

/// Measures a text. The words are separated by white space.
#[tool(name = "text.measure", pure, example({"text": "to be"} => {"words": 2}), example({"text": ""}))]
pub(crate) fn good(
    /// The text, e.g. a page.
    text: String,
) -> Size {
    Size {
        words: text.split_whitespace().count(),
    }
}

/// Measures.
#[tool(name = "measure", pure, example({}))]
pub(crate) fn ungrouped() {}

/// Measures.
#[tool(name = "text.Measure", pure, example({}))]
pub(crate) fn upper_case() {}

/// Measures.
#[tool(name = "page.measure", pure, example({}))]
pub(crate) fn foreign() {}

/// measures a text
#[tool(name = "text.a", pure, example({}))]
pub(crate) fn no_sentence() {}

/// Measures a text by counting the words in it, and the characters, and the lines, and the paragraphs, and the pages, and the
/// chapters, and the parts, and the volumes, and the shelves.
#[tool(name = "text.a", pure, example({}))]
pub(crate) fn long_sentence() {}

/// Measures.
#[tool(name = "text.a", pure, example({"text": ""}))]
pub(crate) fn terse_parameter(
    /// the text
    #[allow(unused)]
    text: String,
) {
}

/// Measures.
#[tool(name = "text.a", pure, example({"span": {"start": 1, "end": 2}}))]
pub(crate) fn undescribed_field(
    /// The lines.
    #[allow(unused)]
    span: Span,
) {
}

/// Measures.
#[tool(name = "text.a", pure)]
pub(crate) fn undescribed_argument(#[args] _undescribed: Undescribed) {}

/// Measures.
#[tool(name = "text.a", pure)]
pub(crate) fn open_arguments(#[args] _open: Open) {}

/// Measures.
#[tool(name = "text.a", pure)]
pub(crate) fn no_definition(
    /// The text.
    #[serde(default = "panics")]
    #[allow(unused)]
    text: String,
) {
}

fn panics() -> String {
    panic!("there is no default")
}

/// Measures.
#[tool(name = "text.a", pure)]
pub(crate) fn no_example() {}

/// Measures.
#[tool(name = "text.a", pure, example({"text": ""} => "ok"), example({"txt": ""}), example({"text": 1}))]
pub(crate) fn invalid_examples(
    /// The text.
    #[allow(unused)]
    text: String,
) {
}

/// Measures.
#[tool(name = "text.a", pure, example({} => 2))]
pub(crate) fn other_result() -> u32 {
    1
}

/// Measures.
#[tool(name = "text.a", pure, example({}))]
pub(crate) fn failing() -> Result<u32, ToolError> {
    Err(ToolError::execution_failed("there is no text"))
}

/// Measures.
#[tool(name = "text.a", pure, example({}))]
pub(crate) fn impure() -> u32 {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed)
}

/// Measures, with an effect.
#[tool(name = "text.a", writes = "text:size", example({} => 2))]
pub(crate) fn not_pure() -> Result<u32, ToolError> {
    Err(ToolError::execution_failed("it has run"))
}
