//! Reads API keys and removes them from messages.

use std::env;

use agent::{KeySource, ProviderError};
use secrecy::{ExposeSecret, SecretString};

use crate::api::Api;
use crate::retry::Failure;

/// The key of a provider, and the place that it comes from. An empty key is not sent.
pub(crate) struct Key {
    pub(crate) secret: SecretString,
    source: KeySource,
}

impl Key {
    /// Reads the key from the named source, or else from the usual variable. Errors never contain the key. An optional key may be
    /// empty.
    pub(crate) fn read(
        api: Api,
        named: Option<&KeySource>,
        usual: &str,
        is_optional: bool,
    ) -> Result<Self, ProviderError> {
        let source = named
            .cloned()
            .unwrap_or_else(|| KeySource::Environment(usual.to_owned()));
        let secret = match (&source, read(api, &source)?) {
            (_, Some(secret)) => secret,
            // A variable that the user names has to exist. The usual one need not.
            (KeySource::Environment(name), None)
                if !is_optional || (named.is_some() && env::var_os(name).is_none()) =>
            {
                return Err(api.refuse(format!(
                    "it needs a key; set the environment variable {name}, or name a key file"
                )));
            }
            (KeySource::File(path), None) if !is_optional => {
                return Err(api.refuse(format!(
                    "its key file {} is empty; write the key into it",
                    path.display()
                )));
            }
            (_, None) => SecretString::default(),
        };
        Ok(Self { secret, source })
    }

    /// Adds the missing key to the error of a service that asks for one.
    pub(crate) fn explain(&self, mut failure: Failure) -> Failure {
        if let ProviderError::Status {
            status: 401 | 403,
            message,
            ..
        } = &mut failure.error
            && self.secret.expose_secret().is_empty()
        {
            *message = match &self.source {
                KeySource::Environment(name) => {
                    format!("{message} (no key was sent, because {name} is not set)")
                }
                KeySource::File(path) => format!(
                    "{message} (no key was sent, because {} is empty)",
                    path.display()
                ),
                _ => format!("{message} (no key was sent)"),
            };
        }
        failure
    }
}

/// Returns `None` if the variable or the file is empty, or the variable is not set.
fn read(api: Api, source: &KeySource) -> Result<Option<SecretString>, ProviderError> {
    let key = source.read();
    let key = key.map_err(|error| api.refuse(error.to_string()))?;
    Ok(key.map(SecretString::from))
}

/// The fewest characters of a key that cannot be a word. Local servers take words as keys, such as `ollama` and `none`.
const SECRET_CHARS: usize = 8;

/// Replaces the key in an error by `[key]`, because services repeat keys there. A key of fewer characters than [`SECRET_CHARS`] is
/// replaced only where it is a whole word.
pub(crate) fn without_key(text: &str, key: &SecretString) -> String {
    let key = key.expose_secret();
    if key.is_empty() {
        // An empty text is found everywhere.
        return text.to_owned();
    }
    let is_of_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut without = String::with_capacity(text.len());
    let mut end = 0;
    for (at, _) in text.match_indices(key) {
        let is_word =
            !text[..at].ends_with(is_of_word) && !text[at + key.len()..].starts_with(is_of_word);
        if key.len() >= SECRET_CHARS || is_word {
            without += &text[end..at];
            without += "[key]";
            end = at + key.len();
        }
    }
    without + &text[end..]
}
