//! A crate of tools. Programs that link it, such as `main.rs`, have its tools.

use serde::{Deserialize, Serialize};
use tools::{Catalog, JsonSchema, RegisterError, ToolContext, ToolError, tool};
use tools_builtin::fs::{Workspace, WorkspaceFiles as _};

/// The size of a text.
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
    Measure {
        words: text.split_whitespace().count(),
        characters: text.chars().count(),
    }
}

/// Converts a text to upper case.
#[tool(name = "text.shout", pure)]
pub fn shout(
    /// The text.
    text: String,
    /// The number of exclamation marks to add.
    #[serde(default)]
    marks: u8,
) -> String {
    text.to_uppercase() + &"!".repeat(marks.into())
}

/// Counts the words and characters of a text file in the workspace.
#[tool(name = "text.measure_file", reads = "fs:{path}", needs = Workspace, tags = ["files"])]
pub fn measure_file(
    cx: &ToolContext,
    /// The file, relative to the workspace root.
    path: String,
) -> Result<Measure, ToolError> {
    // Not `std::fs`: the pipeline checks only the text of the path. The workspace also checks the targets of links.
    let content = cx.need::<Workspace>()?.read_file(cx, &path)?;
    let content = content.ok_or_else(|| {
        ToolError::execution_failed(format!("there is no `{path}`; list its directory"))
    })?;
    let text = String::from_utf8(content);
    let text = text.map_err(|_| {
        ToolError::execution_failed(format!("`{path}` is not UTF-8 text; choose another file"))
    })?;
    Ok(measure(text))
}

/// The arguments of `text.wrap`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub struct Wrapping {
    /// The text.
    text: String,
    /// The maximum number of characters in a line.
    #[schemars(range(min = 1))]
    width: usize,
}

/// Wraps the lines of a text at a given width.
#[tool(name = "text.wrap", pure, example({"text": "to be or not", "width": 6}))]
pub async fn wrap(cx: &ToolContext, #[args] wrapping: Wrapping) -> Result<String, ToolError> {
    let mut lines = Vec::new();
    for paragraph in wrapping.text.lines() {
        // Yields regularly, so that the deadline and cancellation of the call take effect.
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

/// Registers the tools in a catalog, for tests and for hosts without link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&MEASURE_TOOL, &MEASURE_FILE_TOOL, &SHOUT_TOOL, &WRAP_TOOL])
}
