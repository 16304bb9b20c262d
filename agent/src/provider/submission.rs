//! [`ProviderSubmission`]: the link-time record of a provider.

use std::sync::Arc;

use tools::Source;
use tools::linked::{self, NameConflict, UnusableName};

use super::{Provider, ProviderError, ProviderOptions};

/// The link-time record of a provider. Every program that links its crate finds it by name. Register it with
/// [`inventory::submit!`](super::inventory::submit).
#[derive(Clone, Debug)]
pub struct ProviderSubmission {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// A one-line description for people.
    pub description: &'static str,
    /// The place that declares it.
    pub source: Source,
    /// Returns the service that these options name, or the usual one. Returns `None` if the provider asks no service.
    pub service: fn(&ProviderOptions) -> Option<ModelService>,
    /// Creates the provider from options.
    pub create: fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError>,
}

/// A service with models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelService {
    /// The base URL.
    pub base_url: String,
    /// The environment variable of the key, unless the options name another source.
    pub key_variable: &'static str,
    /// True if the service refuses a request without a key.
    pub needs_key: bool,
    /// The model if none is named, as the service spells it. A program may choose a provider with such a model when it finds the key.
    pub model: Option<&'static str>,
}

inventory::collect!(ProviderSubmission);

impl ProviderSubmission {
    /// Creates the provider.
    ///
    /// # Errors
    /// Returns a [`ProviderError`] if the provider cannot be created from these options.
    pub fn create(&self, options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
        (self.create)(options)
    }
}

tools::named_submission!(ProviderSubmission, "provider");

/// Returns the linked provider of this name.
///
/// # Errors
/// Returns [`ProviderError::Lookup`] if no linked provider has this name, or several crates claim it.
pub fn get(name: &str) -> Result<&'static ProviderSubmission, ProviderError> {
    Ok(linked::get(name)?)
}

/// Returns the usable linked providers, sorted by name.
pub fn list() -> Vec<&'static ProviderSubmission> {
    linked::list()
}

/// Returns the names claimed by several linked crates, sorted.
pub fn conflicts() -> Vec<NameConflict> {
    linked::conflicts::<ProviderSubmission>()
}

/// Returns the linked providers with unusable names, sorted by name.
pub fn problems() -> Vec<UnusableName> {
    linked::problems::<ProviderSubmission>()
}
