//! What the values of a scheme are relative to.

use std::sync::Arc;

use super::ToolContext;

/// Domains by their schemes; few, so a list is enough. Most contexts have none, and copies of them share it.
pub(super) type Domains = Option<Arc<Vec<(Arc<str>, Arc<str>)>>>;

impl ToolContext {
    /// What the values of a scheme are relative to, such as the root that the paths of `fs` are below: calls in different domains
    /// do not conflict. Name a thing by what it is (device and inode, not a path with links in it), and name it the same in every
    /// session. Without this all contexts are in one domain, where sessions with different roots at times wait for each other
    /// without need. Roots that lie in each other are one domain.
    #[must_use]
    pub fn with_domain(self, scheme: impl Into<Arc<str>>, domain: impl Into<Arc<str>>) -> Self {
        let (scheme, domain) = (scheme.into(), domain.into());
        self.with(|facts| {
            let domains = Arc::make_mut(facts.domains.get_or_insert_default());
            domains.retain(|(held, _)| *held != scheme);
            domains.push((scheme, domain));
        })
    }

    /// The domain of a scheme; empty where nobody said.
    pub fn domain(&self, scheme: &str) -> &str {
        let domains = self.facts.domains.as_deref().map_or(&[][..], Vec::as_slice);
        domains.iter().find(|(held, _)| **held == *scheme).map_or("", |(_, domain)| domain)
    }
}
