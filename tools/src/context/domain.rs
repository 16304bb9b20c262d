//! Domains: the namespaces that the targets of a scheme belong to.

use std::sync::Arc;

use super::ToolContext;

/// Domains by scheme. A list is enough for the few that there are.
pub(super) type Domains = Option<Arc<Vec<(Arc<str>, Arc<str>)>>>;

impl ToolContext {
    /// Returns the domain of a scheme, or an empty string if none is set.
    pub fn domain(&self, scheme: &str) -> &str {
        let domains = self.facts.domains.as_deref().map_or(&[][..], Vec::as_slice);
        domains
            .iter()
            .find(|(held, _)| **held == *scheme)
            .map_or("", |(_, domain)| domain)
    }
}
