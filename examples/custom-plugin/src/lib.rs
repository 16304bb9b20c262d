//! A crate of tools. Whoever links it has them: see `main.rs` beside it.

use std::io::Read;

use serde::{Deserialize, Serialize};
use tools::{Catalog, JsonSchema, RegisterError, ToolContext, ToolError, tool};
use tools_builtin::fs::Workspace;

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

/// Measures a text file of the workspace.
#[tool(name = "text.measure_file", reads = "fs:{path}", needs = Workspace, tags = ["files"])]
pub fn measure_file(
    cx: &ToolContext,
    /// The file, relative to the workspace root.
    path: String,
) -> Result<Measure, ToolError> {
    // Through the workspace and not `std::fs`: what was granted is checked against the path's text, and a link on the way may
    // lead elsewhere. The workspace looks at where it leads.
    let file = cx.need::<Workspace>()?.open_file(cx, &path)?;
    let mut text = String::new();
    file.take(1 << 20)
        .read_to_string(&mut text)
        .map_err(|error| ToolError::execution_failed(format!("{path}: {error}")))?;
    Ok(measure(text))
}

/// How to wrap a text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub struct Wrapping {
    /// The text.
    text: String,
    /// The most characters of a line, from 1.
    #[schemars(range(min = 1))]
    width: usize,
}

/// Wraps a text, paragraph by paragraph.
#[tool(name = "text.wrap", pure, example({"text": "to be or not", "width": 6}))]
pub async fn wrap(cx: &ToolContext, #[args] wrapping: Wrapping) -> Result<String, ToolError> {
    let mut lines = Vec::new();
    for paragraph in wrapping.text.lines() {
        // An async tool yields where it may take long, so that its deadline and its cancellation are seen.
        tokio::task::yield_now().await;
        cx.check_cancelled()?;
        lines.push(String::new());
        for word in paragraph.split_whitespace() {
            let line = lines.last().map_or(0, |line| line.chars().count());
            match lines.last_mut() {
                Some(last) if line == 0 || line + 1 + word.chars().count() <= wrapping.width => {
                    last.push_str(if line == 0 { "" } else { " " });
                    last.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
    }
    Ok(lines.join("\n"))
}

/// Adds the tools to a catalog by hand: for tests, and for hosts where link-time registration does not run.
///
/// # Errors
/// [`RegisterError`] when one of the names is taken.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&MEASURE_TOOL, &MEASURE_FILE_TOOL, &SHOUT_TOOL, &WRAP_TOOL])
}
