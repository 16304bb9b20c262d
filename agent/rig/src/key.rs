//! Reads API keys and removes them from messages.

use agent::{KeySource, ProviderError};
use secrecy::{ExposeSecret, SecretString};

/// Reads the key of a provider. Errors never contain the key.
pub(crate) fn read(provider: &str, source: &KeySource) -> Result<SecretString, ProviderError> {
    let refused = |reason: String| ProviderError::Options { provider: provider.to_owned(), reason };
    let text = match source {
        KeySource::Environment(name) => std::env::var(name)
            .map_err(|_| refused(format!("it needs a key; set the environment variable {name}, or name a key file")))?,
        KeySource::File(path) => std::fs::read_to_string(path).map_err(|error| {
            refused(format!("its key file {} cannot be read: {error}; name a readable file", path.display()))
        })?,
        _ => {
            return Err(refused(
                "this source of keys is not supported; use an environment variable or a file".to_owned(),
            ));
        }
    };
    let key = text.trim();
    if key.is_empty() || key.chars().any(|c| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
        return Err(refused(
            "its key is empty or has invalid characters; check the variable or file that holds it".to_owned(),
        ));
    }
    Ok(SecretString::from(key))
}

/// Replaces the key in a text by `[key]`, because services repeat keys in their errors.
pub(crate) fn without_key(text: &str, key: &SecretString) -> String {
    let key = key.expose_secret();
    if key.is_empty() { text.to_owned() } else { text.replace(key, "[key]") }
}
