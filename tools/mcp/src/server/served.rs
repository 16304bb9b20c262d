//! [`ServedTools`]: a fixed set of tools for clients.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};
use tools::call::Resolve;
use tools::protocol::wire::{Format, NameCollision, NameGrammar, Strictness, WireNames};
use tools::{Entry, ToolError, ToolName, visible_line};

use crate::server::names::{ServedNames, Underscored};

/// A fixed set of tools for clients, with its definitions.
pub struct ServedTools {
    names: WireNames,
    underscored: Underscored,
    pub(super) definitions: Definitions,
    scope: Box<dyn Resolve>,
}

impl ServedTools {
    /// Creates a set. Clients see `entries`; calls and nested calls are looked up in `scope`, such as the same tool set or catalog.
    ///
    /// # Errors
    /// Returns an error if two tools have the same name on the wire.
    pub fn new(
        entries: impl IntoIterator<Item = Arc<Entry>>,
        scope: impl Resolve + 'static,
    ) -> Result<Self, NameCollision> {
        Self::with_names(entries, scope, ServedNames::default())
    }

    /// Creates a set whose tools have names of this form. Calls may use either form.
    ///
    /// # Errors
    /// Returns an error if two tools have the same name on the wire.
    pub fn with_names(
        entries: impl IntoIterator<Item = Arc<Entry>>,
        scope: impl Resolve + 'static,
        form: ServedNames,
    ) -> Result<Self, NameCollision> {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        entries.dedup_by(|a, b| a.name() == b.name());
        let names = WireNames::new(NameGrammar::Mcp, entries.iter().map(|entry| entry.name()))?;
        let underscored = Underscored::new(entries.iter().map(|entry| entry.name()));
        let shown = (form == ServedNames::Underscored).then_some(&underscored);
        let definitions = Definitions::new(&entries, shown);
        Ok(Self {
            names,
            underscored,
            definitions,
            scope: Box::new(scope),
        })
    }

    /// Returns the tools that could not be defined for clients, each with the reason.
    pub fn left_out(&self) -> &[(tools::ToolName, String)] {
        &self.definitions.left_out
    }

    /// Returns the definition of the tool that a client means.
    pub(super) fn definition(&self, text: &str) -> Option<&rmcp::model::Tool> {
        let exact = self.definitions.find(text);
        exact.or_else(|| match self.underscored.tool(text) {
            Some(name) => self.definitions.find(&NameGrammar::Mcp.encode(name)),
            None => self
                .definitions
                .find(self.underscored.form(&self.names.tool(text)?)?),
        })
    }

    /// Returns the tool that a client means.
    ///
    /// # Errors
    /// Returns the error of the scope. A name that no tool can have is not found.
    pub(super) fn find(&self, text: &str) -> Result<Arc<Entry>, ToolError> {
        if let Some(name) = self.underscored.tool(text) {
            return self.scope.resolve(name.as_str());
        }
        let name = self.names.tool(text);
        self.scope.resolve(
            name.as_ref()
                .map_or(&*WireNames::absent(text), |name| name.as_str()),
        )
    }
}

impl Resolve for ServedTools {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.scope.resolve(name)
    }
}

tools::debug_fields!(self: ServedTools { len = self.definitions.tools.len() });

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
        let mut tools = Vec::new();
        let mut left_out = Vec::new();
        for entry in entries {
            match definition(entry) {
                Ok(mut tool) => {
                    if let Some(name) = names.and_then(|names| names.form(entry.name())) {
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
        let position = self.tools.binary_search_by(|tool| (*tool.name).cmp(name));
        self.tools.get(position.ok()?)
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
