//! The entries of `tools.search` and `tools.call`, which a disclosed set has in any case.

use std::any::TypeId;
use std::sync::{Arc, LazyLock};

use tools::{Catalog, Entry};

use super::ToolFinder;
use crate::tool::{CALL_TOOL, SEARCH_TOOL};

/// The two tools, also for a session whose catalog does not have them.
static OWN: LazyLock<Vec<Arc<Entry>>> = LazyLock::new(|| {
    let mut catalog = Catalog::new();
    // A definition that does not build is a problem of the linked catalog, too, which reports it.
    let _ = catalog.submit(&[&CALL_TOOL, &SEARCH_TOOL]);
    catalog.list()
});

/// Returns the entries of `tools.call` and `tools.search`, sorted by name.
pub(crate) fn own_entries() -> &'static [Arc<Entry>] {
    &OWN
}

/// Returns true if this is one of the two tools, and not another one of its name.
pub(crate) fn is_own(entry: &Entry) -> bool {
    entry.needs().iter().any(|need| need.id() == TypeId::of::<ToolFinder>())
}
