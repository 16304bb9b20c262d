//! [`ProviderOptions`]: what a provider is made with.

use std::path::PathBuf;

use super::Patience;

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
    /// How long the service is waited for, and how often it is asked again; as [`Patience::default`] says where nobody does.
    pub patience: Option<Patience>,
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

    /// Sets how long the service is waited for, and how often it is asked again.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = Some(patience);
        self
    }
}

/// Whether a URL may be printed and says all that is needed: `http(s)://host/path`, without a user, a query or a fragment.
///
/// ```
/// use agent::provider::is_plain_url;
///
/// assert!(is_plain_url("http://localhost:11434/v1"));
/// assert!(!is_plain_url("https://me:secret@example.org"));
/// ```
pub fn is_plain_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && !rest.contains(|c: char| matches!(c, '@' | '?' | '#' | '\\') || c.is_whitespace() || c.is_control())
    })
}
