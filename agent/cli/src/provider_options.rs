//! The options of a provider, from the settings.

use agent::{GenerationOptions, KeySource, ProviderOptions, ProviderSubmission, Proxy};
use tools::protocol::wire::Strictness;

use crate::config::{ENVIRONMENT, Setting, Settings};
use crate::program;
use crate::provider_choice::ProviderChoice;

/// Returns the options of the provider that the settings choose, for this model.
pub(crate) fn from_settings(settings: &Settings, model: Option<&str>) -> ProviderOptions {
    let mut options = general(settings);
    options.model = model.map(str::to_owned);
    options.base_url = settings.base_url.as_ref().map(|url| url.value.clone());
    options.dialect = settings.dialect.as_ref().map(|dialect| dialect.value.clone());
    options.key = settings.key().map(|key| key.value);
    options.strictness = settings.strict.value.then_some(Strictness::Strict);
    options.generation = generation(settings, options.generation);
    options
}

/// Returns the options that hold for every provider, with its usual service.
pub(crate) fn general(settings: &Settings) -> ProviderOptions {
    let (timeouts, retry_policy) = settings.request_policy();
    let mut options = ProviderOptions::new().with_timeouts(timeouts).with_retry_policy(retry_policy);
    options.streaming = Some(settings.streaming.value);
    options.generation.max_output_tokens = value(&settings.max_output_tokens);
    options.proxy = settings.proxy.as_ref().map(|proxy| match proxy.value.as_str() {
        ENVIRONMENT => Proxy::Environment,
        url => Proxy::Url(url.to_owned()),
    });
    options
}

/// Returns the URL of the service whose key is in the usual variable of this provider. Returns `None` if that is the provider's own
/// service, so that the key may go there.
pub(crate) fn foreign_service(
    settings: &Settings,
    choice: &ProviderChoice,
    provider: &ProviderSubmission,
) -> Option<String> {
    let usual = (provider.service)(&general(settings))?;
    let configured = from_settings(settings, choice.model.as_deref());
    let chosen = (program::provider(&choice.provider).ok()?.service)(&configured)?;
    let variable = match &configured.key {
        None => chosen.key_variable,
        Some(KeySource::Environment(name)) => name,
        Some(_) => return None,
    };
    (variable == usual.key_variable && chosen.base_url != usual.base_url).then_some(chosen.base_url)
}

fn value<T: Clone>(setting: &Option<Setting<T>>) -> Option<T> {
    setting.as_ref().map(|setting| setting.value.clone())
}

/// Returns the settings of answers that only the chosen provider has, added to the general ones.
fn generation(settings: &Settings, mut generation: GenerationOptions) -> GenerationOptions {
    generation.temperature = value(&settings.temperature);
    generation.tool_choice = value(&settings.tool_choice);
    generation.parallel_calls = value(&settings.parallel_calls);
    generation.reasoning_effort = value(&settings.reasoning_effort);
    generation.caching = value(&settings.caching);
    generation
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Values;

    #[test]
    fn the_output_limit_and_streaming_hold_for_every_provider() {
        let flags = Values {
            max_output_tokens: Some(Setting::from_default(1000)),
            streaming: Setting::from_flag("--no-streaming", false),
            temperature: Some(Setting::from_default(0.5)),
            ..Values::default()
        };
        let settings = Settings::from_flags(flags);
        for (options, temperature) in [(general(&settings), None), (from_settings(&settings, None), Some(0.5))] {
            assert_eq!((options.generation.max_output_tokens, options.streaming), (Some(1000), Some(false)));
            assert_eq!(options.generation.temperature, temperature);
        }
    }
}
