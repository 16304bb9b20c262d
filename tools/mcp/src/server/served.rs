//! [`ServedTools`]: a fixed set of tools for clients.

use std::sync::Arc;

use tools::call::Resolve;
use tools::protocol::wire::{NameCollision, NameGrammar, WireNames};
use tools::{Entry, ToolError};

use crate::server::definitions::Definitions;
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
        let other = || match self.underscored.tool(text) {
            Some(name) => self.definitions.find(&NameGrammar::Mcp.encode(name)),
            None => self
                .definitions
                .find(self.underscored.shown(&self.names.tool(text)?)?),
        };
        self.definitions.find(text).or_else(other)
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

impl std::fmt::Debug for ServedTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedTools")
            .field("len", &self.definitions.tools.len())
            .finish_non_exhaustive()
    }
}
