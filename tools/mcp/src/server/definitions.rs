//! [`Definitions`]: the answer to `tools/list`.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use tools::protocol::wire::{Format, Strictness};
use tools::{Entry, ToolName, visible_line};

use crate::server::names::Underscored;

/// Begins a cursor, so that a text of another origin is refused.
const CURSOR: &str = "after ";

/// The maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

/// The definitions of a set, sorted by name.
pub(super) struct Definitions {
    pub(super) tools: Vec<Tool>,
    pub(super) left_out: Vec<(ToolName, String)>,
}

/// A page of definitions and the cursor of the next one.
pub(super) struct Page {
    pub(super) tools: Vec<Tool>,
    pub(super) next: Option<String>,
}

impl Definitions {
    pub(super) fn new(entries: &[Arc<Entry>], names: Option<&Underscored>) -> Self {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        for entry in entries {
            match definition(entry) {
                Ok(mut tool) => {
                    if let Some(name) = names.and_then(|names| names.shown(entry.name())) {
                        tool.name = name.to_owned().into();
                    }
                    tools.push(tool);
                }
                Err(reason) => left_out.push((entry.name().clone(), reason)),
            }
        }
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        Self { tools, left_out }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        let position = self
            .tools
            .binary_search_by(|tool| (*tool.name).cmp(name))
            .ok()?;
        self.tools.get(position)
    }

    /// Returns the page after a cursor. A cursor names the last tool of its page, so it also holds for a changed set.
    ///
    /// Returns `None` if the cursor is not one of this server.
    pub(super) fn page(&self, cursor: Option<&str>, size: usize) -> Option<Page> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let last = cursor.strip_prefix(CURSOR)?;
                self.tools.partition_point(|tool| *tool.name <= *last)
            }
        };
        let rest = self.tools.get(start..).unwrap_or_default();
        let tools = rest[..rest.len().min(size)].to_vec();
        let last = tools.last().filter(|_| tools.len() < rest.len());
        let next = last.map(|last| format!("{CURSOR}{}", last.name));
        Some(Page { tools, next })
    }
}

/// Returns the definition as clients read it. `rmcp` leaves a result schema that is no object out for clients of older revisions.
fn definition(entry: &Entry) -> Result<Tool, String> {
    let wire = Format::Mcp
        .tool(entry.tool(), Strictness::Relaxed)
        .map_err(|error| error.to_string())?;
    let mut tool: Tool = serde_json::from_value(wire.value()).map_err(|error| error.to_string())?;
    // The wire form has canonical numbers. A schema that needs no change is sent as it was declared.
    if let Value::Object(declared) = &entry.tool().parameters
        && wire.changes.is_empty()
        && declared.get("type").is_some_and(|kind| kind == "object")
    {
        tool.input_schema = Arc::new(Map::clone(declared));
    }
    if let Some(Value::Object(output)) = &entry.tool().output {
        tool.output_schema = Some(Arc::new(Map::clone(output)));
    }
    tool.title = tool.title.map(|title| visible_line(&title, MAX_TITLE));
    let title = tool.annotations.take().and_then(|hints| hints.title);
    // The hints of an imported tool are the word of its server. Clients are to have ours.
    let hints =
        serde_json::to_value(entry.tool().effects.annotations()).and_then(serde_json::from_value);
    let mut hints: ToolAnnotations = hints.map_err(|error| error.to_string())?;
    hints.title = title.map(|title| visible_line(&title, MAX_TITLE));
    tool.annotations = Some(hints);
    Ok(tool)
}
