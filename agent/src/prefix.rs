//! [`PrefixChange`]: a change of the part of a prompt that services cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use tools::protocol::wire::Format;
use tools::protocol::{Message, Role};
use tools::{Entry, ToolName};

use crate::{ToolSet, WireToolSet};

/// The parts of a session's prompt prefix that changed since its last run. A service then reads the whole prompt anew instead of
/// from its cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
}

/// The prompt prefix of a session's last run.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    definitions: BTreeMap<ToolName, Definition>,
    system: Option<Arc<str>>,
    format: Option<Format>,
}

/// The part of a tool that a model reads.
#[derive(Clone, Debug)]
enum Definition {
    /// The text that the service takes.
    Wire(Arc<str>),
    /// The tool itself, for a provider without a format.
    Catalog(Arc<Entry>),
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Wire(text), Self::Wire(other)) => text == other,
            (Self::Catalog(entry), Self::Catalog(other)) => {
                let text = |entry: &Arc<Entry>| (entry.tool().description.clone(), entry.tool().parameters.clone());
                Arc::ptr_eq(entry, other) || text(entry) == text(other)
            }
            _ => false,
        }
    }
}

impl Prefix {
    /// Returns the prefix of requests with these messages. `wire` are the tools as the service takes them.
    pub(crate) fn new(messages: &[Message], tools: &ToolSet, wire: Option<&WireToolSet>) -> Self {
        let system = messages.first().filter(|message| message.role == Role::System);
        let definitions = match wire {
            Some(wire) => {
                wire.definition_texts().map(|(name, text)| (name.clone(), Definition::Wire(text.clone()))).collect()
            }
            None => {
                tools.list().iter().map(|entry| (entry.name().clone(), Definition::Catalog(entry.clone()))).collect()
            }
        };
        let (system, format) = (system.map(|message| message.to_text().into()), wire.map(WireToolSet::format));
        Self { definitions, system, format }
    }

    /// Returns the changes since an earlier prefix. Returns `None` if there are none.
    pub(crate) fn changes_since(&self, earlier: &Self) -> Option<PrefixChange> {
        let (now, before) = (&self.definitions, &earlier.definitions);
        let missing = |of: &BTreeMap<ToolName, Definition>, others: &BTreeMap<ToolName, Definition>| {
            of.keys().filter(|name| !others.contains_key(*name)).cloned().collect()
        };
        let is_changed = |(name, definition): &(&ToolName, &Definition)| {
            before.get(*name).is_some_and(|before| before != *definition)
        };
        let change = PrefixChange {
            added: missing(now, before),
            removed: missing(before, now),
            changed: now.iter().filter(is_changed).map(|(name, _)| name.clone()).collect(),
            system: self.system != earlier.system,
            format: self.format != earlier.format,
        };
        (change != PrefixChange::default()).then_some(change)
    }
}
