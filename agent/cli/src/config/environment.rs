//! The settings of the environment.

use super::error::ConfigError;
use super::key::KeyAbout;
use super::keys::Values;
use super::origin::Origin;

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
