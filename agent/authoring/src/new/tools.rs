//! The tools of @name@. A program that contains `use @library@_tools as _;` has them.

mod count;

use tools::{ToolContext, ToolError, tool};
use tools_fs::{Workspace, WorkspaceFiles as _};

pub use count::{COUNT_TOOL, Lines, Unit, count};

/// Saves a note. Its effect is declared, so each call needs a grant or the approval of a person.
#[tool(
    name = "note.save",
    writes = "fs:notes/{name}.md",
    idempotent,
    needs = Workspace,
    example({"name": "milk", "text": "Buy some."}),
)]
pub fn save(
    cx: &ToolContext,
    /// The name of the note.
    name: String,
    /// Its text.
    text: String,
) -> Result<String, ToolError> {
    let path = format!("notes/{name}.md");
    cx.need::<Workspace>()?.write_file(cx, &path, text)?;
    Ok(format!("saved {path}"))
}

/// Adds the tools to a catalog, for tests. Add each new tool here: the tests check only these.
pub fn register(catalog: &mut tools::Catalog) -> Result<(), tools::RegisterError> {
    catalog.submit(&[&COUNT_TOOL, &SAVE_TOOL])
}
