//! The source of the key of a session's provider, without the key.

use agent::KeySource;
use serde_json::{Value, json};

use crate::config::{Setting, Settings};
use crate::program;
use crate::provider_choice::ProviderChoice;
use crate::provider_options;

/// Returns the source that the settings name, or else the usual one of the chosen provider's service.
pub(crate) fn from_settings(settings: &Settings, choice: &ProviderChoice) -> Setting<Option<KeySource>> {
    if let Some(key) = settings.key() {
        return key.map(Some);
    }
    let options = provider_options::from_settings(settings, choice.model.as_deref());
    let service = program::provider(&choice.provider).ok().and_then(|provider| (provider.service)(&options));
    Setting::from_default(service.map(|service| KeySource::Environment(service.key_variable.to_owned())))
}

/// Returns the source, and whether it holds something.
pub(crate) fn document(source: &KeySource) -> Value {
    let is_found = is_found(source);
    match source {
        KeySource::Environment(name) => json!({"variable": name, "found": is_found}),
        KeySource::File(path) => json!({"file": path.display().to_string(), "found": is_found}),
        _ => Value::Null,
    }
}

/// Returns true if the source holds something.
pub(crate) fn is_found(source: &KeySource) -> bool {
    match source {
        KeySource::Environment(name) => std::env::var_os(name).is_some_and(|key| !key.is_empty()),
        KeySource::File(path) => path.metadata().is_ok_and(|file| !file.is_dir() && file.len() > 0),
        _ => false,
    }
}
