//! The options of a provider, from the settings.

use agent::{GenerationOptions, ProviderOptions, Proxy};
use tools::protocol::wire::Strictness;

use crate::config::{ENVIRONMENT, Setting, Settings};

/// Returns the options of the provider that the settings choose, for this model.
pub(crate) fn from_settings(settings: &Settings, model: Option<&str>) -> ProviderOptions {
    let mut options = general(settings);
    options.model = model.map(str::to_owned);
    options.base_url = settings.base_url.as_ref().map(|url| url.value.clone());
    options.dialect = settings.dialect.as_ref().map(|dialect| dialect.value.clone());
    options.key = settings.key().map(|key| key.value);
    options.streaming = Some(settings.streaming.value);
    options.strictness = settings.strict.value.then_some(Strictness::Strict);
    options.generation = generation(settings);
    options
}

/// Returns the options that hold for every provider.
pub(crate) fn general(settings: &Settings) -> ProviderOptions {
    let (timeouts, retry_policy) = settings.request_policy();
    let mut options = ProviderOptions::new().with_timeouts(timeouts).with_retry_policy(retry_policy);
    options.proxy = settings.proxy.as_ref().map(|proxy| match proxy.value.as_str() {
        ENVIRONMENT => Proxy::Environment,
        url => Proxy::Url(url.to_owned()),
    });
    options
}

fn generation(settings: &Settings) -> GenerationOptions {
    fn value<T: Clone>(setting: &Option<Setting<T>>) -> Option<T> {
        setting.as_ref().map(|setting| setting.value.clone())
    }
    let mut generation = GenerationOptions::new();
    generation.max_output_tokens = value(&settings.max_output_tokens);
    generation.temperature = value(&settings.temperature);
    generation.tool_choice = value(&settings.tool_choice);
    generation.parallel_calls = value(&settings.parallel_calls);
    generation.reasoning_effort = value(&settings.reasoning_effort);
    generation.caching = value(&settings.caching);
    generation
}
