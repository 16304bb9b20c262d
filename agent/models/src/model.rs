//! [`Model`]: a model of a service, with its HTTP client.

use agent::{ProviderError, ProviderInfo, ProviderOptions, Timeouts};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::about::about;
use crate::api::Api;
use crate::endpoint::Endpoint;
use crate::grown::Grown;
use crate::key::Key;
use crate::model_facts::ModelFacts;
use crate::model_table::output_limit;
use crate::origin::Origin;
use crate::profile::{Profile, is_mistral};
use crate::served_facts::ServedFacts;
use crate::settings::{self, Asked};
use crate::{anthropic, chat, client, gemini, ollama, responses};

/// A model with its HTTP client.
pub(crate) struct Model {
    pub(crate) info: ProviderInfo,
    pub(crate) profile: Profile,
    /// The fields of each request.
    pub(crate) settings: Map<String, Value>,
    pub(crate) origin: Origin,
    pub(crate) grown: Grown,
    pub(crate) endpoint: Endpoint,
    pub(crate) headers: HeaderMap,
    pub(crate) client: Client,
    /// The facts that the service tells. It is asked once.
    pub(crate) served: OnceCell<Option<ServedFacts>>,
    pub(crate) timeouts: Timeouts,
    pub(crate) key: Key,
}

impl Model {
    pub(crate) fn new(
        endpoint: Endpoint,
        name: &str,
        key: Key,
        options: &ProviderOptions,
        served: ServedFacts,
    ) -> Result<Self, ProviderError> {
        let api = endpoint.api;
        let service = endpoint.service;
        let generation = options.generation.clone();
        // An option that cannot work fails here by its name, and not with the first request in the words of the service.
        settings::check(api, &generation)?;
        client::check(api, options.proxy.as_ref())?;
        let usual = || client::timeouts(&endpoint.base_url);
        let timeouts = options.timeouts.unwrap_or_else(usual);
        let client = client::client(&endpoint.base_url, options.proxy.as_ref(), &timeouts)
            .map_err(|error| {
                api.refuse(format!(
                    "cannot create an HTTP client: {error}; check the certificates of this machine"
                ))
            })?;
        let facts = ModelFacts::find(api, service, name);
        let output_limit = output_limit(name, served);
        let asked = Asked {
            model: name,
            service,
            facts,
            output_limit,
            generation: &generation,
        };
        let settings = match api {
            Api::OpenAi => chat::request::settings(asked),
            Api::OpenAiResponses => responses::request::settings(asked),
            Api::Anthropic => anthropic::settings::settings(asked),
            Api::Gemini => gemini::request::settings(asked),
            Api::Ollama => ollama::request::settings(asked),
        };
        let settings = settings.map_err(|refused| refused.error(api, name))?;
        let (settings, generation_config) = match api {
            Api::Gemini => (Map::new(), settings),
            Api::Ollama => (settings, ollama::request::options(asked)),
            _ => (settings, Map::new()),
        };
        let mut headers = endpoint.headers(&key)?;
        if api == Api::Anthropic && facts.is_some_and(|facts| facts.binds_context) {
            let beta = HeaderValue::from_static(anthropic::settings::BINDING_BETA);
            headers.insert("anthropic-beta", beta);
        }
        let info = about(&endpoint, name, options, served);
        Ok(Self {
            settings,
            grown: Grown::default(),
            origin: Origin {
                api: api.stored_name(),
                provider: endpoint.stored_name(),
                model: name.to_owned(),
            },
            served: OnceCell::new(),
            profile: Profile {
                // Gateways refuse the fields.
                caching: generation.caching.unwrap_or(options.base_url.is_none()),
                separates_results: api == Api::OpenAi && is_mistral(service, name),
                name: name.to_owned(),
                output_limit,
                images: !info.images.is_blind,
                api,
                service,
                generation,
                generation_config,
            },
            info,
            headers,
            endpoint,
            client,
            timeouts,
            key,
        })
    }
}

#[cfg(test)]
mod tests {
    use agent::{GenerationOptions, KeySource};

    use crate::service::Service;

    use super::*;

    fn options() -> ProviderOptions {
        ProviderOptions {
            key: Some(KeySource::Environment("PATH".to_owned())),
            ..ProviderOptions::default()
        }
    }

    fn created(api: Api, name: &str, options: &ProviderOptions) -> Model {
        let endpoint = Endpoint::new(api, options).unwrap();
        let key = endpoint.key(options).unwrap();
        Model::new(endpoint, name, key, options, ServedFacts::default()).unwrap()
    }

    fn model(api: Api, name: &str) -> Model {
        created(api, name, &options())
    }

    #[test]
    fn the_public_service_of_anthropic_is_asked_to_cache_unless_told_otherwise() {
        let asks = |options: &ProviderOptions| {
            created(Api::Anthropic, "claude-sonnet-4-5", options)
                .profile
                .caching
        };
        let silent = GenerationOptions {
            caching: Some(false),
            ..GenerationOptions::new()
        };
        assert!(
            asks(&options())
                && !asks(&ProviderOptions {
                    generation: silent,
                    ..options()
                })
        );
        assert!(!asks(&ProviderOptions {
            base_url: Some("http://gateway.example.org".into()),
            ..options()
        }));
    }

    #[test]
    fn the_models_of_mistral_are_known_at_each_service() {
        let mistral = Service::find(Api::OpenAi, Some("mistral"), None).unwrap();
        assert!(is_mistral(mistral, "some-tuned-model"));
        for name in [
            "mistral-large-latest",
            "mistralai/devstral-2512",
            "mistralai/Ministral-3B",
        ] {
            assert!(model(Api::OpenAi, name).profile.separates_results, "{name}");
        }
        assert!(!model(Api::OpenAi, "gpt-4o").profile.separates_results);
        assert!(!model(Api::Ollama, "mistral").profile.separates_results);
    }

    #[test]
    fn the_id_of_another_service_becomes_a_legal_one() {
        let (anthropic, chat) = (
            model(Api::Anthropic, "claude-sonnet-5"),
            model(Api::OpenAi, "gpt-4o"),
        );
        assert_eq!(anthropic.profile.call_id("toolu_01-a"), "toolu_01-a");
        assert_eq!(
            anthropic.profile.call_id("functions.read:0"),
            "functions_read_0"
        );
        let [one, two] = ["1", "2"].map(|end| format!("{}{end}", "é".repeat(99)));
        for model in [&anthropic, &chat] {
            let (one, two) = (model.profile.call_id(&one), model.profile.call_id(&two));
            assert!(
                one != two && one.len() <= 64 && one.is_ascii(),
                "{one} {two}"
            );
        }
        assert!(chat.profile.call_id(&one).len() <= 40);
    }
}
