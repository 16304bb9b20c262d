//! [`ProviderOptions`]: what a provider is made with.

use std::path::PathBuf;

/// What a host says when it asks for a provider. Each provider takes what it knows and passes over the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderOptions {
    /// The file of turns to play.
    pub script: Option<PathBuf>,
}

impl ProviderOptions {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the file of turns to play.
    #[must_use]
    pub fn with_script(mut self, path: impl Into<PathBuf>) -> Self {
        self.script = Some(path.into());
        self
    }
}
