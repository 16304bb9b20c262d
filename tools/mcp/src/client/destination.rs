//! [`Destination`]: the catalog that tools are imported into.

use std::sync::Arc;

use tools::{Entry, Handler, RegisterError, SharedCatalog, Tool};

/// The catalog that tools are imported into.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// The process-wide catalog.
    Global,
    Shared(SharedCatalog),
}

impl Destination {
    pub(super) fn register(
        &self,
        tool: Tool,
        handler: impl Handler,
    ) -> Result<Arc<Entry>, RegisterError> {
        match self {
            Self::Global => tools::register(tool, handler),
            Self::Shared(catalog) => catalog.register(tool, handler),
        }
    }

    /// Replaces an entry. Registers the tool if the host has replaced or removed the entry, which then fails if the name is taken.
    pub(super) fn replace(
        &self,
        old: &Arc<Entry>,
        tool: Tool,
        handler: impl Handler,
    ) -> Result<Arc<Entry>, RegisterError> {
        if !self.has(old) {
            return self.register(tool, handler);
        }
        match self {
            Self::Global => tools::replace(tool, handler),
            Self::Shared(catalog) => catalog.replace(tool, handler),
        }
    }

    /// Removes an entry, unless the host has replaced it.
    pub(super) fn unregister(&self, entry: &Arc<Entry>) {
        if self.has(entry) {
            match self {
                Self::Global => tools::unregister(entry.name()),
                Self::Shared(catalog) => catalog.unregister(entry.name()),
            };
        }
    }

    fn has(&self, entry: &Arc<Entry>) -> bool {
        let present = match self {
            Self::Global => tools::get(entry.name()),
            Self::Shared(catalog) => catalog.get(entry.name()),
        };
        present.is_ok_and(|present| Arc::ptr_eq(&present, entry))
    }
}
