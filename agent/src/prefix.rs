//! [`PrefixChange`]: a change of the part of a prompt that services cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tools::ToolName;
use tools::protocol::{Message, Role};

use crate::fingerprint::fingerprint;
use crate::provider::ProviderInfo;
use crate::tool_set::ToolSet;
use crate::wire_tool_set::WireToolSet;

/// The parts of a session's prompt prefix that changed since its last run. A service then reads the whole prompt anew instead of
/// from its cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PrefixChange {
    /// The tools that the last run did not have, sorted by name.
    pub added: Vec<ToolName>,
    /// The tools that only the last run had, sorted by name.
    pub removed: Vec<ToolName>,
    /// The tools whose definitions as the model reads them differ, sorted by name.
    pub changed: Vec<ToolName>,
    /// True if the system text differs.
    pub system: bool,
    /// True if the provider takes the definitions in another format.
    pub format: bool,
    /// True if another model or provider reads the prompt.
    pub model: bool,
}

/// The prompt prefix of a run. It has digests instead of texts, so that a checkpoint can hold it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prefix {
    /// The digests of the definitions.
    definitions: Arc<BTreeMap<ToolName, u64>>,
    system: Option<u64>,
    format: Option<String>,
    provider: String,
    model: Option<String>,
}

impl Prefix {
    /// Returns the prefix of requests with these messages and tools to this provider.
    pub(crate) fn new(messages: &[Message], tools: &ToolSet, about: &ProviderInfo) -> Self {
        let system = messages.first();
        let system = system.filter(|message| message.role == Role::System);
        let wire = about.wire_tools(tools);
        let definitions = wire.map_or_else(
            || tools.definition_digests(),
            WireToolSet::definition_digests,
        );
        Self {
            definitions: definitions.clone(),
            system: system.map(|message| fingerprint(&message.to_text())),
            format: wire.map(|wire| wire.format().name().to_owned()),
            provider: about.name.to_string(),
            model: about.model.clone(),
        }
    }

    /// Returns the changes since an earlier prefix. Returns `None` if there are none.
    pub(crate) fn changes_since(&self, earlier: &Self) -> Option<PrefixChange> {
        let now = &self.definitions;
        let before = &earlier.definitions;
        let missing = |of: &BTreeMap<ToolName, u64>, others: &BTreeMap<ToolName, u64>| -> Vec<_> {
            of.keys()
                .filter(|name| !others.contains_key(*name))
                .cloned()
                .collect()
        };
        let changed = now
            .iter()
            .filter(|(name, digest)| before.get(*name).is_some_and(|before| before != *digest))
            .map(|(name, _)| name.clone())
            .collect();
        let change = PrefixChange {
            added: missing(now, before),
            removed: missing(before, now),
            changed,
            system: self.system != earlier.system,
            format: self.format != earlier.format,
            // Another model has no part of the prompt in its cache.
            model: (&self.provider, &self.model) != (&earlier.provider, &earlier.model),
        };
        (change != PrefixChange::default()).then_some(change)
    }
}
