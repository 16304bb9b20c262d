//! The options of a provider, from the settings.

use std::fmt;

use agent::{
    GenerationOptions, KeySource, ModelChoice, ProviderOptions, ProviderSubmission, Proxy,
};

use crate::config::{
    ENVIRONMENT, ProgramKeys, ProgramSettings as _, Setting, Settings, Values, value,
};
use crate::program;
use crate::provider_choice::ProviderChoice;

/// Returns the options of the provider that the settings choose, for this model.
pub(crate) fn from_settings(settings: &Settings, model: Option<&str>) -> ProviderOptions {
    let mut options = with_service(general(settings), settings.values());
    options.model = model.map(str::to_owned);
    let program = settings.program();
    options.generation = GenerationOptions {
        temperature: value(&program.temperature),
        reasoning_effort: value(&program.reasoning_effort),
        ..options.generation
    };
    options
}

/// Returns the options of a model that takes over. One of another provider has that one's usual service and key.
pub(crate) fn for_fallback(
    settings: &Settings,
    choice: &ProviderChoice,
    fallback: &ModelChoice,
) -> ProviderOptions {
    let mut options = from_settings(settings, Some(&fallback.model));
    if fallback.provider != choice.provider {
        options.base_url = None;
        options.dialect = None;
        options.key = None;
    }
    options
}

/// Returns the source of the key that the settings name, or else the usual one of the chosen provider's service.
pub(crate) fn key_source(
    settings: &Settings,
    choice: &ProviderChoice,
) -> Setting<Option<KeySource>> {
    if let Some(key) = settings.program().key() {
        return key.map(Some);
    }
    let options = from_settings(settings, choice.model.as_deref());
    let provider = program::provider(&choice.provider).ok();
    let service = provider.and_then(|provider| (provider.service)(&options));
    Setting::from_default(
        service.map(|service| KeySource::Environment(service.key_variable.to_owned())),
    )
}

/// Adds the service that the values name.
fn with_service(mut options: ProviderOptions, values: &Values) -> ProviderOptions {
    let keys = values.of::<ProgramKeys>();
    options.base_url = value(&keys.base_url);
    options.dialect = value(&keys.dialect);
    options.key = keys.key().map(|key| key.value);
    options
}

/// Returns the options that hold for every provider, with its usual service.
pub(crate) fn general(settings: &Settings) -> ProviderOptions {
    let program = settings.program();
    let mut options = ProviderOptions::new();
    options.generation.max_output_tokens = value(&program.max_output_tokens);
    let prices = program.prices.iter();
    // A later file precedes an earlier one.
    options.prices = prices
        .map(|price| (price.value.model.clone(), price.value.price()))
        .collect();
    options.facts_cache = host::folders::models();
    options.proxy = value(&program.proxy).map(|proxy| match proxy.as_str() {
        ENVIRONMENT => Proxy::Environment,
        _ => Proxy::Url(proxy),
    });
    options
}

/// A key that a provider may not send, because it belongs to another service.
#[derive(Debug)]
pub(crate) struct ForeignKey {
    /// The variable that holds the key.
    variable: &'static str,
    /// The URL of the service that the key belongs to.
    pub(crate) url: String,
}

impl ForeignKey {
    /// Returns the key in the usual variable of this provider if it belongs to a service that the settings name for another provider, or
    /// that they named for a replaced one.
    ///
    /// The chosen provider may have a URL or a key of its own, which says where the key goes.
    pub(crate) fn find(
        settings: &Settings,
        choice: &ProviderChoice,
        provider: &ProviderSubmission,
    ) -> Option<Self> {
        let is_chosen = provider.name == choice.provider;
        if is_chosen
            && (settings.program().base_url.is_some() || settings.program().key().is_some())
        {
            return None;
        }
        // The key of a gateway must not be sent to the public service of the same format.
        let usual = (provider.service)(&general(settings))?;
        let chosen: Option<&Values> = (!is_chosen).then_some(settings.values());
        let (_, url) = chosen
            .into_iter()
            .chain(&settings.replaced)
            .filter_map(keyed_service)
            .find(|(variable, url): &(String, String)| {
                variable == usual.key_variable && *url != usual.base_url
            })?;
        Some(Self {
            variable: usual.key_variable,
            url,
        })
    }
}

/// Formats the reason and the next step.
impl fmt::Display for ForeignKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, url } = self;
        write!(
            f,
            "{variable} holds the key of {url}; keep that key in another variable or in a file, and name it with key_env or key_file"
        )
    }
}

/// Returns the variable of the key of the service that the values name, and its URL.
fn keyed_service(values: &Values) -> Option<(String, String)> {
    let provider = program::provider(&values.of::<ProgramKeys>().provider.as_ref()?.value).ok()?;
    let service = (provider.service)(&with_service(ProviderOptions::new(), values))?;
    match values.of::<ProgramKeys>().key().map(|key| key.value) {
        None => Some((service.key_variable.to_owned(), service.base_url)),
        Some(KeySource::Environment(variable)) => Some((variable, service.base_url)),
        // The key of a file is in no variable that another provider would send.
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_limit_holds_for_every_provider() {
        let mut flags = Values::default();
        let keys: &mut ProgramKeys = flags.of_mut();
        keys.max_output_tokens = Some(Setting::from_default(1000));
        keys.temperature = Some(Setting::from_default(0.5));
        let settings = Settings::from_flags(flags).unwrap();
        for (options, temperature) in [
            (general(&settings), None),
            (from_settings(&settings, None), Some(0.5)),
        ] {
            assert_eq!(options.generation.max_output_tokens, Some(1000));
            assert_eq!(options.generation.temperature, temperature);
        }
    }
}
