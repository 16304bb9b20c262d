//! [`PrefixChange`]: a change of the part of a prompt that services cache.

use std::sync::Arc;

use tools::protocol::wire::Format;
use tools::protocol::{Message, Role};
use tools::{Entry, ToolName};

use crate::ToolSet;

/// The parts of a session's prompt prefix that changed since its last run. A service then reads the whole prompt anew instead of
/// from its cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrefixChange {
    /// The tools that the last run did not have, sorted by name.
    pub added: Vec<ToolName>,
    /// The tools that only the last run had, sorted by name.
    pub removed: Vec<ToolName>,
    /// The tools whose definitions differ, sorted by name.
    pub changed: Vec<ToolName>,
    /// True if the system text differs.
    pub system: bool,
    /// True if the provider takes the definitions in another format.
    pub format: bool,
}

/// The prompt prefix of a session's last run.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    tools: ToolSet,
    system: Option<Arc<str>>,
    format: Option<Format>,
}

impl Prefix {
    /// Returns the prefix of requests with these messages.
    pub(crate) fn new(messages: &[Message], tools: &ToolSet, format: Option<Format>) -> Self {
        let system = messages.first().filter(|message| message.role == Role::System);
        Self { tools: tools.clone(), system: system.map(|message| message.to_text().into()), format }
    }

    /// Returns the changes since an earlier prefix. Returns `None` if there are none.
    pub(crate) fn changes_since(&self, earlier: &Self) -> Option<PrefixChange> {
        let (system, format) = (self.system != earlier.system, self.format != earlier.format);
        let mut change = PrefixChange { system, format, ..PrefixChange::default() };
        if !self.tools.is_same(&earlier.tools) {
            let name = |entry: &Arc<Entry>| entry.name().clone();
            let (now, before) = (self.tools.list(), earlier.tools.list());
            let find = |entries: &'_ [Arc<Entry>], name: &ToolName| {
                entries.binary_search_by(|entry| entry.name().cmp(name)).ok().map(|position| entries[position].digest())
            };
            for entry in now {
                match find(before, entry.name()) {
                    None => change.added.push(name(entry)),
                    Some(digest) if digest != entry.digest() => change.changed.push(name(entry)),
                    Some(_) => {}
                }
            }
            change.removed = before.iter().filter(|entry| find(now, entry.name()).is_none()).map(name).collect();
        }
        (change != PrefixChange::default()).then_some(change)
    }
}
