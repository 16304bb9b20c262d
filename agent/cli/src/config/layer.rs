//! [`Layer`]: the settings of one source.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent::KeySource;

use super::keys::Values;
use super::origin::Setting;

/// The settings of one source. Unset ones leave the lower layers in effect.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    pub(super) values: Values,
    /// The profiles by name. Only keys that a profile accepts are set.
    pub(super) profiles: BTreeMap<String, Setting<Values>>,
}

impl Layer {
    /// Applies a higher layer. Its profiles replace those of the same name.
    pub(super) fn apply(&mut self, upper: Self) {
        self.values.apply(upper.values);
        self.profiles.extend(upper.profiles);
    }
}

impl Values {
    /// Applies the values of a higher layer. Another provider, search or speech backend does not inherit the keys of the one before.
    pub(super) fn apply(&mut self, upper: Self) {
        if self.provider_changes(&upper) {
            self.forget_provider();
        }
        if upper.key_env.is_some() || upper.key_file.is_some() {
            (self.key_env, self.key_file) = (None, None);
        }
        let is_other =
            |backend: &Setting<String>| self.network.search.as_ref().is_some_and(|lower| lower.value != backend.value);
        if upper.network.search.as_ref().is_some_and(is_other) {
            (self.network.search_url, self.network.search_key_env, self.network.search_key_file) = (None, None, None);
        }
        if upper.network.search_key_env.is_some() || upper.network.search_key_file.is_some() {
            (self.network.search_key_env, self.network.search_key_file) = (None, None);
        }
        let is_other =
            |backend: &Setting<String>| self.speech.backend.as_ref().is_none_or(|lower| lower.value != backend.value);
        if upper.speech.backend.as_ref().is_some_and(is_other) {
            (self.speech.service_url, self.speech.model, self.speech.voice) = (None, None, None);
            (self.speech.key_env, self.speech.key_file) = (None, None);
        }
        if upper.speech.key_env.is_some() || upper.speech.key_file.is_some() {
            (self.speech.key_env, self.speech.key_file) = (None, None);
        }
        self.merge(upper);
    }

    /// Returns true if the higher layer names another provider, or the first one.
    pub(super) fn provider_changes(&self, upper: &Self) -> bool {
        let is_other =
            |provider: &Setting<String>| self.provider.as_ref().is_none_or(|lower| lower.value != provider.value);
        upper.provider.as_ref().is_some_and(is_other)
    }

    /// Returns the source of the provider's key. Returns `None` if it is the provider's usual one.
    pub(crate) fn key(&self) -> Option<Setting<KeySource>> {
        source(&self.key_env, &self.key_file)
    }

    /// Returns the source of the search backend's key. Returns `None` if it is the backend's usual one.
    #[cfg(feature = "web")]
    pub(crate) fn search_key(&self) -> Option<Setting<KeySource>> {
        source(&self.network.search_key_env, &self.network.search_key_file)
    }

    /// Returns the source of the speech service's key. Returns `None` if it is the service's usual one.
    #[cfg(feature = "tts")]
    pub(crate) fn speech_key(&self) -> Option<Setting<KeySource>> {
        source(&self.speech.key_env, &self.speech.key_file)
    }
}

fn source(variable: &Option<Setting<String>>, file: &Option<Setting<PathBuf>>) -> Option<Setting<KeySource>> {
    let variable = variable.clone().map(|name| name.map(KeySource::Environment));
    variable.or_else(|| file.clone().map(|file| file.map(KeySource::File)))
}
