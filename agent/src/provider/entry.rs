//! [`ProviderEntry`] and [`ProviderSubmission`]: a provider in the registry, and its link-time record.

use std::fmt;
use std::sync::Arc;

use tools::Source;

use super::{Provider, ProviderError, ProviderOptions};

/// What a crate contributes to the registry by being linked: give one to
/// [`inventory::submit!`](super::inventory::submit).
#[derive(Clone)]
pub struct ProviderSubmission {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// What it is, in one line, for people.
    pub description: &'static str,
    /// Where it was declared.
    pub source: Source,
    /// Makes one.
    pub create: fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError>,
}

inventory::collect!(ProviderSubmission);

/// A provider that can be made by its name.
pub struct ProviderEntry {
    name: String,
    description: String,
    source: Source,
    create: Box<Create>,
}

type Create = dyn Fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync;

impl ProviderEntry {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in one line.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Where it was declared.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Makes a provider.
    ///
    /// # Errors
    /// Whatever speaks against these options, as a [`ProviderError`].
    pub fn create(&self, options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
        (self.create)(options)
    }

    pub(super) fn new(name: &str, description: &str, source: Source, create: Box<Create>) -> Self {
        Self { name: name.to_owned(), description: description.to_owned(), source, create }
    }
}

impl From<&ProviderSubmission> for ProviderEntry {
    fn from(submission: &ProviderSubmission) -> Self {
        let ProviderSubmission { name, description, source, create } = submission;
        Self::new(name, description, source.clone(), Box::new(*create))
    }
}

impl fmt::Debug for ProviderEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderEntry").field("name", &self.name).field("source", &self.source).finish_non_exhaustive()
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
