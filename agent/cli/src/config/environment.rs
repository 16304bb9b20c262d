//! The settings of the environment.

use super::error::ConfigError;
use super::key::KeyAbout;
use super::keys::Values;
use super::origin::{Origin, Setting};
use crate::program;

/// Returns the first provider, by name, whose key is in the environment.
pub(super) fn provider() -> Option<Setting<String>> {
    program::providers_with_key().into_iter().next().map(|(name, service)| {
        let origin = Origin::Environment(service.key_variable.to_owned());
        Setting { value: name.to_owned(), origin }
    })
}

/// Reads the variables of the keys. An empty variable counts as unset.
pub(super) fn values() -> Result<Values, ConfigError> {
    Values::from_texts(|key: &KeyAbout| {
        let Some(name) = key.variable() else { return Ok(None) };
        let Some(text) = std::env::var_os(&name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let origin = Origin::Environment(name);
        match text.into_string() {
            Ok(text) => Ok(Some((vec![text], origin))),
            Err(_) => {
                let reason = "is not UTF-8; set another text, or unset the variable".to_owned();
                Err(ConfigError::Value { origin, key: key.name.to_owned(), reason })
            }
        }
    })
}
