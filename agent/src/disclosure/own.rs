//! Tells the tools of a search from others.

use std::any::TypeId;

use tools::Entry;

use super::finder::ToolFinder;
use crate::found::SEARCHER;
use crate::inner_call::CALLER;

/// Returns true if this is `tools.search` or `tools.call`, neither another tool of its name nor one that finds tools as they do.
pub(crate) fn is_of_search(entry: &Entry) -> bool {
    let is_named = entry.name() == SEARCHER || entry.name() == CALLER;
    is_named
        && entry
            .needs()
            .iter()
            .any(|need| need.id() == TypeId::of::<ToolFinder>())
}
