//! Tells the tools of a search from others.

use std::any::TypeId;

use tools::Entry;

use super::ToolFinder;

/// Returns true if this is `tools.search` or `tools.call`, and not another tool of its name.
pub(crate) fn is_of_search(entry: &Entry) -> bool {
    entry.needs().iter().any(|need| need.id() == TypeId::of::<ToolFinder>())
}
