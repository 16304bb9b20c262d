//! Domains: the namespaces that the targets of a scheme belong to.

use std::sync::Arc;

use super::ToolContext;

/// Domains by scheme. A list is enough for the few that there are.
pub(super) type Domains = Option<Arc<Vec<(Arc<str>, Arc<str>)>>>;

impl ToolContext {
    /// Sets the domain of a scheme, such as the root directory of `fs` paths. Calls in different domains never conflict.
    ///
    /// - Use the same name in all sessions, and identify the resource itself: device and inode, not a path that may contain links.
    /// - Use one domain for roots of which one contains the other.
    ///
    /// Without a domain, sessions with different roots may wait for each other unnecessarily.
    #[must_use]
    pub fn with_domain(self, scheme: impl Into<Arc<str>>, domain: impl Into<Arc<str>>) -> Self {
        let (scheme, domain) = (scheme.into(), domain.into());
        self.with(|facts| {
            let domains = Arc::make_mut(facts.domains.get_or_insert_default());
            domains.retain(|(held, _)| *held != scheme);
            domains.push((scheme, domain));
        })
    }

    /// Returns the domain of a scheme, or an empty string if none is set.
    pub fn domain(&self, scheme: &str) -> &str {
        let domains = self.facts.domains.as_deref().map_or(&[][..], Vec::as_slice);
        domains
            .iter()
            .find(|(held, _)| **held == *scheme)
            .map_or("", |(_, domain)| domain)
    }
}
