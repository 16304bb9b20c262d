//! The settings of the environment.

use host::settings::{KeyAbout, Origin, Setting, SettingsError, Values};

use super::keys::ProgramKeys;
use crate::program;

/// The provider for a URL without one: local servers and gateways have its format.
const FOR_URLS: &str = "openai";

/// Returns the first provider, by name, whose key is in the environment. With a model, one with a default model of the same family precedes.
pub(super) fn provider(model: Option<&str>) -> Option<Setting<String>> {
    // Gateways name a model with its vendor before a slash.
    let model = model.and_then(|model| model.rsplit('/').next());
    let with_key = program::providers_with_key();
    let related = with_key.iter().find(|(_, service)| {
        let [wanted, default] =
            [model, service.model].map(|model| model?.split(['-', '.', ':']).next());
        wanted.is_some_and(|wanted| {
            default.is_some_and(|default| wanted.eq_ignore_ascii_case(default))
        })
    });
    related.or(with_key.first()).map(|(name, service)| {
        let origin = Origin::Environment(service.key_variable.to_owned());
        Setting::new((*name).to_owned(), origin)
    })
}

/// Returns the provider for values that name none: the one for URLs if they name a URL, else the one of a key in the environment.
pub(super) fn completing(values: &Values) -> Option<Setting<String>> {
    let keys = values.of::<ProgramKeys>();
    match (&keys.base_url, &keys.model) {
        (Some(url), _) => Some(Setting::new(FOR_URLS.to_owned(), url.origin.clone())),
        (None, model) => provider(model.as_ref().map(|model| model.value.as_str())),
    }
}

/// Reads the variables of the keys. An empty variable counts as unset.
pub(super) fn values() -> Result<Values, SettingsError> {
    Values::from_texts(|key: &KeyAbout| {
        let Some(name) = key.variable() else {
            return Ok(None);
        };
        let Some(text) = std::env::var_os(&name).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let origin = Origin::Environment(name);
        match text.into_string() {
            Ok(text) => Ok(Some((vec![text], origin))),
            Err(_) => {
                let reason = "is not UTF-8; set another text, or unset the variable";
                Err(SettingsError::value(&origin, key.name, reason))
            }
        }
    })
}
