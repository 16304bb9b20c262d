//! The facts about a service and a model of it.

use agent::{ContextSize, ImageLimits, ProviderInfo, ProviderOptions, WireOptions};

use crate::api::Api;
use crate::endpoint::Endpoint;
use crate::model_facts::ModelFacts;
use crate::model_table::{Context, KnownModel, output_limit};
use crate::served_facts::ServedFacts;

/// Returns the facts about a model of a service: those of the options, of the table, or else those that the service tells. The size of its context is as its name says, until the service names another one.
pub(crate) fn about(
    endpoint: &Endpoint,
    model: &str,
    options: &ProviderOptions,
    served: ServedFacts,
) -> ProviderInfo {
    let api = endpoint.api;
    let known = KnownModel::find(endpoint.listed_name, model);
    let facts = ModelFacts::find(api, endpoint.service, model);
    let context = known.map(|known| known.context);
    let context_tokens = match context {
        // The settings of Ollama's server decide.
        Some(Context::Shared(tokens) | Context::Input(tokens)) if api != Api::Ollama => tokens,
        Some(_) => 0,
        None => served.context.unwrap_or_default(),
    };
    let stated = options.generation.max_output_tokens.map(u64::from);
    // The output limit that a request states, if the service counts that.
    let reserved_tokens = match (api, context) {
        (Api::Gemini | Api::Ollama, _) | (_, Some(Context::Input(_))) => 0,
        (Api::Anthropic, _) => stated.unwrap_or_else(|| output_limit(model, served)),
        (Api::OpenAi | Api::OpenAiResponses, _) => stated.unwrap_or_default(),
    };
    ProviderInfo {
        service_name: endpoint.service.conventional_name().into(),
        model: Some(model.to_owned()),
        base_url: Some(endpoint.base_url.clone()),
        generation: options.generation.clone(),
        wire: Some(wire_options(api, options)),
        context: ContextSize::new(context_tokens),
        reserved_tokens,
        images: ImageLimits {
            is_blind: facts.map(|facts| facts.images).or(served.images) == Some(false),
            ..endpoint.service.images.clone()
        },
        price: options
            .prices
            .get(model)
            .copied()
            .or_else(|| known?.price(endpoint.listed_name))
            .or(served.price),
        ..ProviderInfo::new(api.name())
    }
}

/// Returns the form in which the service takes tools.
pub(crate) fn wire_options(api: Api, options: &ProviderOptions) -> WireOptions {
    let is_public = options.base_url.is_none();
    let takes_examples = api.format().takes_examples() && is_public;
    WireOptions {
        format: api.format(),
        strictness: options.strictness.unwrap_or_default(),
        // Gateways refuse Anthropic's field, and descriptions are longer with examples.
        examples: options.examples.unwrap_or(takes_examples),
        // Other services with the API of a public one have no such limit on tools.
        is_limited: is_public,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_context_except_at_ollama_whose_settings_decide() {
        let options = ProviderOptions::new();
        let context = |api, model| {
            let endpoint = Endpoint::new(api, &options).unwrap();
            about(&endpoint, model, &options, ServedFacts::default())
                .context
                .tokens()
        };
        assert_eq!(context(Api::Anthropic, "claude-sonnet-4"), Some(200_000));
        assert_eq!(context(Api::Ollama, "claude-sonnet-4"), None);
        assert_eq!(context(Api::OpenAi, "m"), None);
    }

    #[test]
    fn examples_go_to_the_public_service_of_anthropic_unless_requested_otherwise() {
        let public = ProviderOptions::new();
        let gateway = ProviderOptions {
            base_url: Some("http://localhost:1".into()),
            ..public.clone()
        };
        let examples = |api, options: &ProviderOptions| wire_options(api, options).examples;
        assert!(examples(Api::Anthropic, &public) && !examples(Api::Anthropic, &gateway));
        assert!(!examples(Api::OpenAi, &public));
        assert!(!examples(
            Api::Anthropic,
            &ProviderOptions {
                examples: Some(false),
                ..public
            }
        ));
        assert!(examples(
            Api::OpenAi,
            &ProviderOptions {
                examples: Some(true),
                ..gateway
            }
        ));
    }
}
