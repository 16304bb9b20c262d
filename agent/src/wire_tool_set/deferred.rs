//! The tools that a service defers, and those of them that a model has found.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use tools::protocol::Message;
use tools::protocol::wire::WireTool;
use tools::{Entry, ToolName, ToolResult};

use super::WireToolSet;
use crate::fingerprint::fingerprint;
use crate::found;
use crate::inner_call::CALLER;

impl WireToolSet {
    /// Returns true if the service [defers](crate::ToolSet::is_deferring) the tools that are not listed.
    pub fn is_deferring(&self) -> bool {
        self.is_deferring
    }

    /// Returns the definitions of the tools that the service defers, sorted by their names in the catalog. Empty if it does not. Built on
    /// first use.
    pub fn deferred_values(&self) -> &[Value] {
        let is_deferred = |entry: &Entry| self.is_deferring && *entry.name() != *CALLER;
        self.deferred_values.get_or_init(|| {
            let deferred = self.hidden.iter().filter(|(entry, _)| is_deferred(entry));
            deferred.map(|(_, wire)| wire.value()).collect()
        })
    }

    /// Returns the ids of the searches among the calls of a conversation, also those through `tools.call`. Empty if the service does not
    /// defer tools.
    pub fn searches<'m>(&self, messages: &'m [Message]) -> HashSet<&'m str> {
        if self.is_deferring {
            found::searches(messages)
        } else {
            HashSet::new()
        }
    }

    /// Returns the deferred tools that the result of a search names. A tool that is gone or offered now is not among them. Returns `None`
    /// if this is not the result of a search that `called`, the called tool, made.
    pub fn found<'a>(
        &'a self,
        called: &str,
        result: &'a ToolResult,
    ) -> Option<impl Iterator<Item = &'a WireTool>> {
        let names = found::named_in(called, result)?;
        Some(
            names
                .filter_map(|name| self.deferred(name))
                .map(|(_, wire)| wire),
        )
    }

    /// Returns the digests of the deferred tools that the searches of a conversation name, because requests have their definitions. Returns
    /// `None` if the service does not defer tools.
    pub(crate) fn found_digests(&self, messages: &[Message]) -> Option<BTreeMap<ToolName, u64>> {
        let names = self.is_deferring.then(|| found::all_found(messages))?;
        let deferred = names.iter().filter_map(|name| self.deferred(name));
        Some(
            deferred
                .map(|(name, wire)| (name.clone(), fingerprint(&wire.definition)))
                .collect(),
        )
    }

    fn deferred(&self, name: &str) -> Option<(&ToolName, &WireTool)> {
        let at = self
            .hidden
            .binary_search_by(|(entry, _)| entry.name().as_str().cmp(name))
            .ok()?;
        let (entry, wire) = &self.hidden[at];
        (self.is_deferring && *entry.name() != *CALLER).then_some((entry.name(), wire))
    }
}
