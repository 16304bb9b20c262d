//! [`ServedTools`]: a fixed set of tools for clients.

use std::sync::Arc;

use tools::call::Resolve;
use tools::protocol::wire::{NameCollision, NameGrammar, WireNames};
use tools::{Entry, ToolError};

use super::definitions::Definitions;

/// A fixed set of tools for clients, with its definitions.
pub struct ServedTools {
    names: WireNames,
    definitions: Definitions,
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
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        entries.dedup_by(|a, b| a.name() == b.name());
        let names = WireNames::new(NameGrammar::Mcp, entries.iter().map(|entry| entry.name()))?;
        Ok(Self { names, definitions: Definitions::new(&entries), scope: Box::new(scope) })
    }

    /// Returns the tools that could not be defined for clients, each with the reason.
    pub fn left_out(&self) -> &[(tools::ToolName, String)] {
        self.definitions.left_out()
    }

    pub(super) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns the tool that a client means.
    ///
    /// # Errors
    /// Returns the error of the scope. A name that no tool can have is not found.
    pub(super) fn find(&self, text: &str) -> Result<Arc<Entry>, ToolError> {
        let name = self.names.tool(text);
        self.scope.resolve(name.as_ref().map_or(&*WireNames::absent(text), |name| name.as_str()))
    }
}

impl Resolve for ServedTools {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.scope.resolve(name)
    }
}

impl std::fmt::Debug for ServedTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedTools").field("len", &self.definitions.len()).finish_non_exhaustive()
    }
}
