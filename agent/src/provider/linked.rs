//! Looks up the providers that are linked into this process.

use tools::Source;
use tools::linked::{self, NameConflict, NamedSubmission, UnusableName};

use super::{ProviderError, ProviderSubmission};

impl NamedSubmission for ProviderSubmission {
    const NOUN: &'static str = "provider";

    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &Source {
        &self.source
    }
}

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
