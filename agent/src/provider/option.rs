//! [`ProviderOptions`]: what a provider is made with.

use std::path::PathBuf;

/// What a host says when it asks for a provider. Each provider takes what it knows and passes over the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderOptions {
    /// The file of turns to play.
    pub script: Option<PathBuf>,
    /// The model, in the word of the service.
    pub model: Option<String>,
    /// Where the service is, such as `http://localhost:11434/v1`; the provider's own place where there is none.
    pub base_url: Option<String>,
    /// Where the key to the service is kept; the provider's usual variable where there is none.
    pub key: Option<KeySource>,
    /// Whether the model's text is told while it is written; it is where nobody says.
    pub streaming: Option<bool>,
}

/// Where a key is kept. The key itself is no option, so that it never stands on a command line or in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// The environment variable of that name.
    Environment(String),
    /// The file at that path; white space around the key does not count.
    File(PathBuf),
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

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets where the service is.
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets where the key is kept.
    #[must_use]
    pub fn with_key(mut self, source: KeySource) -> Self {
        self.key = Some(source);
        self
    }

    /// Sets whether the model's text is told while it is written.
    #[must_use]
    pub fn with_streaming(mut self, streaming: bool) -> Self {
        self.streaming = Some(streaming);
        self
    }
}
