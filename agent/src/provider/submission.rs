//! [`ProviderSubmission`]: the link-time record of a provider.

use std::fmt;
use std::sync::Arc;

use tools::Source;

use super::{Provider, ProviderError, ProviderOptions};

/// A provider that is found by its name in every program that links its crate: give one to
/// [`inventory::submit!`](super::inventory::submit).
#[derive(Clone)]
pub struct ProviderSubmission {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// A description for people, in one line.
    pub description: &'static str,
    /// Where it was declared.
    pub source: Source,
    /// Makes one.
    pub create: fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError>,
}

inventory::collect!(ProviderSubmission);

impl ProviderSubmission {
    /// Makes a provider.
    ///
    /// # Errors
    /// Returns a [`ProviderError`] if the options do not fit.
    pub fn create(&self, options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
        (self.create)(options)
    }
}

impl fmt::Debug for ProviderSubmission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSubmission")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}
