//! [`Model`]: a model of a service, with its HTTP client.

use std::borrow::Cow;

use agent::provider::GenerationOptions;
use agent::{FailureKind, ProviderError, ProviderOptions, Request, TextSink, Turn, WireToolSet};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use tools::protocol::wire::Format;

use crate::Timeouts;
use crate::api::Api;
use crate::broken::Broken;
use crate::client;
use crate::context_size;
use crate::conversation::{Reading, Unit};
use crate::endpoint::Endpoint;
use crate::exchange::{Exchange, Reply};
use crate::key::Key;
use crate::model_context::ModelContext;
use crate::model_facts::ModelFacts;
use crate::model_limits::{self, Context, output_limit};
use crate::origin::Origin;
use crate::request_body::RequestBody;
use crate::retry::Failure;
use crate::service::Service;
use crate::settings::{self, Asked, ForcedCall};
use crate::turn::{ReadReply, TurnBuilder};
use crate::{anthropic, chat, gemini, ollama, responses};

/// A model with its HTTP client.
pub(crate) struct Model {
    pub(crate) api: Api,
    pub(crate) service: &'static Service,
    pub(crate) name: String,
    pub(crate) facts: Option<&'static ModelFacts>,
    pub(crate) generation: GenerationOptions,
    /// True to ask Anthropic to cache the conversation.
    pub(crate) caching: bool,
    /// True if the model refuses a prompt right after results.
    pub(crate) separates_results: bool,
    /// The fields of each request.
    settings: Map<String, Value>,
    /// The members of `generationConfig` in Gemini, and of `options` in Ollama.
    pub(crate) generation_config: Map<String, Value>,
    origin: Origin,
    endpoint: Endpoint,
    headers: HeaderMap,
    client: Client,
    timeouts: Timeouts,
    key: Key,
    context: ModelContext,
}

/// The parts of a request that differ from one to the next.
pub(crate) struct RequestParts<'a> {
    pub(crate) tools: &'a WireToolSet,
    pub(crate) forced_call: Option<ForcedCall>,
    pub(crate) output_limit: Option<u64>,
    pub(crate) streaming: bool,
    /// The texts of the system.
    pub(crate) system: Vec<String>,
    /// The container of Anthropic's own tools.
    pub(crate) container: Option<String>,
}

impl Model {
    pub(crate) fn new(
        endpoint: Endpoint,
        name: &str,
        key: Key,
        options: &ProviderOptions,
    ) -> Result<Self, ProviderError> {
        let (api, service) = (endpoint.api, endpoint.service);
        let generation = options.generation.clone();
        settings::check(api, &generation)?;
        client::check(api, options.proxy.as_ref())?;
        let timeouts = options.timeouts.unwrap_or_default();
        let client = client::client(&endpoint.base_url, options.proxy.as_ref(), &timeouts)
            .map_err(|error| ProviderError::Options {
                provider: api.name().to_owned(),
                reason: format!(
                    "cannot create an HTTP client: {error}; check the certificates of this machine"
                ),
            })?;
        let facts = ModelFacts::find(api, service, name);
        let asked = Asked {
            model: name,
            service,
            facts,
            generation: &generation,
        };
        let settings = match api {
            Api::OpenAi => chat::settings(asked),
            Api::OpenAiResponses => responses::settings(asked),
            Api::Anthropic => anthropic::settings(asked),
            Api::Gemini => gemini::settings(asked),
            Api::Ollama => ollama::settings(asked),
        };
        let settings = settings.map_err(|refused| refused.error(api, name))?;
        let (settings, generation_config) = match api {
            Api::Gemini => (Map::new(), settings),
            Api::Ollama => (settings, ollama::options(asked)),
            _ => (settings, Map::new()),
        };
        let mut headers = endpoint.headers(&key);
        if api == Api::Anthropic && facts.is_some_and(|facts| facts.binds_context) {
            let beta = HeaderValue::from_static(anthropic::BINDING_BETA);
            headers.insert("anthropic-beta", beta);
        }
        Ok(Self {
            settings,
            generation_config,
            origin: Origin {
                api: api.stored_name(),
                provider: endpoint.stored_name(),
                model: name.to_owned(),
            },
            context: ModelContext::new(client.clone(), api, &endpoint.base_url, name),
            // Gateways refuse the fields.
            caching: generation.caching.unwrap_or(options.base_url.is_none()),
            separates_results: api == Api::OpenAi && is_mistral(service, name),
            name: name.to_owned(),
            api,
            service,
            facts,
            generation,
            headers,
            endpoint,
            client,
            timeouts,
            key,
        })
    }

    /// Returns the tokens of the model's context, as the service named them, or as its name says. Returns `None` if they are unknown.
    pub(crate) fn context_tokens(&self) -> Option<u64> {
        let named = || match (self.api, model_limits::context(&self.name)?) {
            // The settings of its server decide.
            (Api::Ollama, _) => None,
            (_, Context::Shared(tokens) | Context::Input(tokens)) => Some(tokens),
        };
        self.context.learned().or_else(named)
    }

    /// Sets the tokens of the context as the service names them.
    pub(crate) fn learn_context(&self, tokens: u64) {
        self.context.learn(tokens);
    }

    /// Returns the part of the context that a request keeps free for its turn: the output limit that it states, if the service counts
    /// that.
    pub(crate) fn reserved_tokens(&self) -> u64 {
        let stated = self.generation.max_output_tokens.map(u64::from);
        match (self.api, model_limits::context(&self.name)) {
            (Api::Gemini | Api::Ollama, _) | (_, Some(Context::Input(_))) => 0,
            (Api::Anthropic, _) => stated.unwrap_or_else(|| output_limit(&self.name)),
            (Api::OpenAi | Api::OpenAiResponses, _) => stated.unwrap_or_default(),
        }
    }

    /// Returns the member of thoughts that each message of the model has to have.
    pub(crate) fn reasoning_field(&self) -> Option<&str> {
        // https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model: also where others serve the model.
        let of_model = self.name.contains("kimi-k3").then_some("reasoning_content");
        self.service.reasoning_field.as_deref().or(of_model)
    }

    /// Returns the id of a call as the service takes it. A model of another service may have given it.
    pub(crate) fn call_id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        let (most, is_plain) = match self.api {
            Api::OpenAi if self.service.name == "openai" => (40, false),
            Api::OpenAi | Api::Ollama => return Cow::Borrowed(id),
            _ => (64, true),
        };
        let is_legal = |c: char| !is_plain || c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if id.len() <= most && id.chars().all(is_legal) {
            return Cow::Borrowed(id);
        }
        let legal = |c: char| if c.is_ascii() && is_legal(c) { c } else { '_' };
        let mut plain: String = id.chars().map(legal).collect();
        if plain.len() > most {
            plain.truncate(most - 9);
            plain += &format!("_{:08x}", digest(id));
        }
        plain.into()
    }

    /// Makes one attempt at a turn.
    pub(crate) async fn turn(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
        streaming: bool,
        text_sink: Option<TextSink<'_>>,
    ) -> Result<Turn, Failure> {
        self.context.check(request, tools, &self.key.secret).await?;
        let body = self.body(request, tools, streaming)?;
        let provider = self.api.name();
        let mut reader = self.reader();
        let mut turn = TurnBuilder::new(text_sink);
        let mut reply = Reply {
            reader: &mut *reader,
            turn: &mut turn,
            has_begun: false,
        };
        let exchange = Exchange {
            client: &self.client,
            url: &self.endpoint.url(&self.name, streaming),
            headers: self.headers.clone(),
            body: body.into(),
            timeouts: &self.timeouts,
            streaming,
            is_plain: self.api == Api::Ollama,
        };
        let outcome = exchange.run(&mut reply).await;
        let is_lost = outcome
            .as_ref()
            .is_err_and(|broken| reply.has_begun || broken.is_cut());
        let turn = outcome
            .map_err(|broken: Broken| {
                self.key
                    .explained(broken.failure(provider, &self.key.secret))
            })
            .and_then(|()| turn.build(provider, &self.origin, tools));
        if let Err(Failure { error, .. }) = &turn
            && error.kind() == Some(FailureKind::ContextLength)
        {
            let refused = context_size::estimated(request, tools);
            self.context
                .learn_from(error, refused, &self.key.secret)
                .await;
        }
        if is_lost || turn.as_ref().is_err_and(Failure::is_unreadable_turn) {
            request.lost_reply_sink.iter().for_each(|sink| sink.send());
        }
        turn
    }

    fn reader(&self) -> Box<dyn ReadReply> {
        match self.api {
            Api::OpenAi => Box::<chat::Events>::default(),
            Api::OpenAiResponses => Box::<responses::Events>::default(),
            Api::Anthropic => Box::<anthropic::Events>::default(),
            Api::Gemini => Box::<gemini::Events>::default(),
            Api::Ollama => Box::<ollama::Events>::default(),
        }
    }

    fn body(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
        streaming: bool,
    ) -> Result<Vec<u8>, Failure> {
        let permanent = |error| Failure {
            error,
            is_transient: false,
        };
        let choice = self.generation.tool_choice.as_ref();
        let forced_call =
            settings::forced_call(self.api, choice, request, tools).map_err(permanent)?;
        let limit = self.generation.max_output_tokens;
        let mut parts = RequestParts {
            tools,
            forced_call,
            output_limit: limit.map(|limit| limit.max(request.min_output_tokens).into()),
            streaming,
            system: Vec::new(),
            container: None,
        };
        let mut messages = self.messages(request, &mut parts)?;
        if self.api == Api::OpenAi {
            messages
                .extend(chat::request_for_call(self, &parts).map(|message| message.to_string()));
        }
        let mut body = RequestBody::new();
        for (name, value) in &self.settings {
            body.field(name, value);
        }
        let place = match self.api {
            Api::OpenAiResponses => "input",
            Api::Gemini => "contents",
            _ => "messages",
        };
        body.list(place, messages.iter().map(String::as_str));
        match self.api {
            Api::OpenAi => chat::body(self, &parts, &mut body),
            Api::OpenAiResponses => responses::body(self, &parts, &mut body),
            Api::Anthropic => anthropic::body(self, &parts, &mut body),
            Api::Gemini => gemini::body(self, &parts, &mut body),
            Api::Ollama => ollama::body(self, &parts, &mut body),
        }
        Ok(body.into_bytes())
    }

    /// Returns the messages as JSON. Takes out the texts of the system, where the API has a field for them.
    fn messages(
        &self,
        request: &Request<'_>,
        parts: &mut RequestParts<'_>,
    ) -> Result<Vec<String>, Failure> {
        let reading = Reading {
            format: self.api.format(),
            placement: self.image_placement(),
            origin: &self.origin,
            images: self.facts.is_none_or(|facts| facts.images),
            tools: parts.tools,
            is_thought: match self.api {
                Api::OpenAi => |item| matches!(item["type"].as_str(), None | Some("thinking")),
                Api::OpenAiResponses => |item| item["type"] == "reasoning",
                Api::Anthropic => anthropic::is_thought,
                Api::Gemini => |item| item["thought"] == true,
                Api::Ollama => |_| true,
            },
        };
        let mut has_prompt = false;
        let mut messages = Vec::new();
        for unit in reading.units(request.messages) {
            let unit = reading.read(&request.messages[unit]);
            has_prompt |= matches!(unit, Unit::User { .. });
            if self.api == Api::Anthropic {
                parts.container = anthropic::container(&unit).or(parts.container.take());
            }
            let written = match (self.api, unit) {
                (Api::Anthropic | Api::Gemini, Unit::System(text)) => {
                    parts.system.push(text);
                    continue;
                }
                (Api::OpenAiResponses, Unit::System(text))
                    if messages.is_empty() && self.service.instructions =>
                {
                    parts.system.push(text);
                    continue;
                }
                (Api::OpenAi, unit) => chat::messages(self, unit),
                (Api::OpenAiResponses, unit) => responses::messages(self, unit),
                (Api::Anthropic, unit) => anthropic::messages(self, unit),
                (Api::Gemini, unit) => gemini::messages(self, unit),
                (Api::Ollama, unit) => ollama::messages(unit),
            };
            messages.extend(written.iter().map(Value::to_string));
        }
        if has_prompt {
            Ok(messages)
        } else {
            Err(Failure {
                error: ProviderError::NoPrompt,
                is_transient: false,
            })
        }
    }

    /// Returns the format whose places for the images of results the model has.
    fn image_placement(&self) -> Format {
        // Before version 3, the model takes images in a user's message only.
        let is_old_gemini = self.api == Api::Gemini
            && ["gemini-1", "gemini-2"]
                .iter()
                .any(|old| self.name.contains(old));
        if is_old_gemini || self.api == Api::Ollama {
            Format::OpenAiChat
        } else {
            self.api.format()
        }
    }
}

/// The beginnings of the names of Mistral's models, which gateways serve too.
const MISTRAL: [&str; 7] = [
    "codestral",
    "devstral",
    "magistral",
    "ministral",
    "mistral",
    "open-mistral",
    "pixtral",
];

/// Returns true if the model refuses a user's message right after results, as Mistral's do ("Unexpected role 'user' after role 'tool'",
/// <https://github.com/BerriAI/litellm/issues/17761>).
fn is_mistral(service: &Service, model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    service.name == "mistral" || MISTRAL.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns a digest of a text (FNV-1a).
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use agent::KeySource;

    use super::*;

    fn model(api: Api, name: &str) -> Model {
        let options = ProviderOptions::new().with_key(KeySource::Environment("PATH".to_owned()));
        let endpoint = Endpoint::new(api, &options).unwrap();
        let key = endpoint.key(&options).unwrap();
        Model::new(endpoint, name, key, &options).unwrap()
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
            assert!(model(Api::OpenAi, name).separates_results, "{name}");
        }
        assert!(!model(Api::OpenAi, "gpt-4o").separates_results);
        assert!(!model(Api::Ollama, "mistral").separates_results);
    }

    #[test]
    fn the_id_of_another_service_becomes_a_legal_one() {
        let (anthropic, chat) = (
            model(Api::Anthropic, "claude-sonnet-5"),
            model(Api::OpenAi, "gpt-4o"),
        );
        assert_eq!(anthropic.call_id("toolu_01-a"), "toolu_01-a");
        assert_eq!(anthropic.call_id("functions.read:0"), "functions_read_0");
        let [one, two] = ["1", "2"].map(|end| format!("{}{end}", "é".repeat(99)));
        for model in [&anthropic, &chat] {
            let (one, two) = (model.call_id(&one), model.call_id(&two));
            assert!(
                one != two && one.len() <= 64 && one.is_ascii(),
                "{one} {two}"
            );
        }
        assert!(chat.call_id(&one).len() <= 40);
    }
}
