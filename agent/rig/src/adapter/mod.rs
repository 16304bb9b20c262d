//! The only module that uses rig. No type of rig leaves it, except the tools for rig's own agents.

mod about;
mod agent_tool;
mod api;
mod base_url;
mod call_fragments;
mod chat_reply;
mod context_size;
mod conversation;
mod dialect;
mod documents;
mod error_codes;
mod event_stream;
mod exact_arguments;
mod failure;
mod fields;
mod gemini_reply;
mod generation;
mod message_blocks;
mod message_order;
mod model_context;
mod model_limits;
mod only_model;
mod outgoing;
mod payload;
mod retry_header;
mod service_error;
mod split_characters;
mod stated_texts;
mod streamed_arguments;
mod transport;
mod turn;
mod written_thoughts;

use agent::{
    FailureKind, ProviderError, ProviderInfo, ProviderOptions, Request, TextSink, Turn, WireToolSet,
};
use futures_util::StreamExt;
use rig_core::DynModel;
use rig_core::completion::{CompletionRequest, CompletionResponse};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::completion::CacheTtl;
use rig_core::providers::anthropic::wire::{AnthropicConfig, ToolInputStreaming};
use rig_core::providers::gemini::GeminiConfig;
use rig_core::providers::ollama::OllamaConfig;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::providers::openai::wire::{Auth, Dialect, OPENAI};
use rig_core::streaming::{Item, StreamEvent};
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};

use crate::key::Key;
use crate::retry::Failure;
use model_context::ModelContext;
use model_limits::output_limit;
use outgoing::Outgoing;
use streamed_arguments::StreamedArguments;
use transport::TimeoutClient;
use written_thoughts::WrittenThoughts;

pub(crate) use about::wire_options;
pub use agent_tool::tools;
pub(crate) use api::Api;
pub(crate) use only_model::{ListedModel, only_model};

/// A service: its API, its dialect and its URL.
pub(crate) struct Endpoint {
    pub(crate) api: Api,
    dialect: Dialect,
    pub(crate) base_url: String,
}

impl Endpoint {
    /// Returns the service that the options name.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if there is no such dialect, or if it has no URL.
    pub(crate) fn new(api: Api, options: &ProviderOptions) -> Result<Self, ProviderError> {
        let dialect =
            dialect::dialect(api, options.dialect.as_deref(), options.base_url.as_deref())?;
        let url = match &options.base_url {
            Some(url) => url,
            None if api.has_dialects() && dialect.name != OPENAI.name => {
                let (name, public) = (dialect.name, dialect.base_url);
                let public = if public.is_empty() {
                    String::new()
                } else {
                    format!("; that of its public service is {public}")
                };
                let reason = format!("the dialect {name} needs a base URL{public}");
                return Err(ProviderError::Options {
                    provider: api.name().to_owned(),
                    reason,
                });
            }
            None => api.public_url(),
        };
        Ok(Self {
            api,
            base_url: base_url::base_url(api, &dialect, url),
            dialect,
        })
    }

    /// Returns the usual variable of the key. That of OpenAI is not for other services that are known.
    pub(crate) fn key_variable(&self) -> &'static str {
        if self.api.has_dialects() {
            self.dialect.api_key_env
        } else {
            self.api.key_variable()
        }
    }

    /// Returns true if the service refuses a request without a key. One at a URL of the user's may take it.
    pub(crate) fn needs_key(&self, options: &ProviderOptions) -> bool {
        let is_open =
            !self.api.needs_key() || matches!(self.dialect.quirks.auth, Auth::OptionalBearer);
        !is_open && options.base_url.is_none()
    }

    /// Reads the key of the service.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if the key is needed and missing, or if it cannot be read.
    pub(crate) fn key(&self, options: &ProviderOptions) -> Result<Key, ProviderError> {
        Key::read(
            self.api.name(),
            options.key.as_ref(),
            self.key_variable(),
            !self.needs_key(options),
        )
    }
}

/// A model with its HTTP client.
pub(crate) struct Model {
    api: Api,
    name: String,
    info: ProviderInfo,
    model: DynModel<Completion>,
    /// The fields of each request that rig has no setting for.
    fields: Map<String, Value>,
    /// True if the model refuses a prompt right after results.
    separates_results: bool,
    key: Key,
    context: ModelContext,
}

impl Model {
    pub(crate) fn new(
        endpoint: Endpoint,
        name: &str,
        key: Key,
        options: &ProviderOptions,
    ) -> Result<Self, ProviderError> {
        let info = about::about(&endpoint, name, options);
        let Endpoint {
            api,
            dialect,
            base_url,
        } = endpoint;
        generation::check(api, &options.generation)?;
        outgoing::check(api, options.proxy.as_ref())?;
        let timeouts = options.timeouts.unwrap_or_default();
        let client = outgoing::client(&base_url, options.proxy.as_ref(), &timeouts).map_err(
            |error| ProviderError::Options {
                provider: api.name().to_owned(),
                reason: format!(
                    "cannot create an HTTP client: {error}; check the certificates of this machine"
                ),
            },
        )?;
        let context = ModelContext::new(client.clone(), api, &base_url, name);
        let http = TimeoutClient::new(api, client, Outgoing::new(api, &key.secret), &timeouts);
        let secret = key.secret.expose_secret();
        let separates_results = message_order::separates_results(api, dialect.name, name);
        let mut fields = Map::new();
        let model = match api {
            Api::OpenAi => openai(dialect, secret, base_url)
                .connect(http)
                .chat(name)
                .erase(),
            Api::OpenAiResponses => {
                // Turns are sent back whole, so that no conversation stays with the service.
                fields.insert("store".to_owned(), false.into());
                openai(dialect, secret, base_url)
                    .connect(http)
                    .responses(name)
                    .erase()
            }
            Api::Anthropic => {
                let config = AnthropicConfig::new(secret).with_base_url(base_url);
                let mut model = config.connect(http).completion(name);
                // The definitions are ours, and have the field on request.
                model.wire.tool_input_streaming = ToolInputStreaming::Off;
                model.wire.default_max_tokens = Some(output_limit(name));
                if options
                    .generation
                    .caching
                    .unwrap_or(options.base_url.is_none())
                {
                    model.wire.static_prefix_cache_ttl = Some(CacheTtl::FiveMinutes);
                    fields.insert("cache_control".to_owned(), generation::cache_control());
                }
                model.erase()
            }
            // The key is sent in a header, not in the URL.
            Api::Gemini => GeminiConfig::new("")
                .with_base_url(base_url)
                .connect(http)
                .completion(name)
                .erase(),
            Api::Ollama => {
                let config = OllamaConfig::new()
                    .with_base_url(base_url)
                    .with_api_key(secret);
                config.connect(http).native_completion(name).erase()
            }
        };
        generation::check_model(api, name, &model, &options.generation)?;
        Ok(Self {
            api,
            name: name.to_owned(),
            info,
            model,
            fields,
            separates_results,
            key,
            context,
        })
    }

    /// Returns the facts about the service and the model.
    pub(crate) fn about(&self) -> &ProviderInfo {
        &self.info
    }

    /// Makes one attempt at a turn.
    pub(crate) async fn turn(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
        streaming: bool,
        text_sink: Option<TextSink<'_>>,
    ) -> Result<Turn, Failure> {
        self.context
            .check(&self.info.context, request, tools, &self.key.secret)
            .await?;
        let completion = self.request(request, tools)?;
        let mut arguments = StreamedArguments::default();
        let mut has_begun = false;
        let response = if streaming {
            self.streamed(completion, text_sink, &mut arguments, &mut has_begun)
                .await
        } else {
            self.model.call(completion).await
        };
        let is_lost = response
            .as_ref()
            .is_err_and(|error| has_begun || failure::is_cut(error));
        let turn = response
            .map_err(|error| {
                self.key
                    .explained(failure::failure(self.api, &self.key.secret, &error))
            })
            .and_then(|response| {
                turn::complete(self.api, turn::turn(self.api, response, arguments, tools))
            });
        if let Err(Failure { error, .. }) = &turn
            && error.kind() == Some(FailureKind::ContextLength)
        {
            let refused = context_size::estimated(request, tools);
            self.context
                .learn_from(&self.info.context, error, refused, &self.key.secret)
                .await;
        }
        if is_lost || turn.as_ref().is_err_and(Failure::is_unreadable_turn) {
            request.lost_reply_sink.iter().for_each(|sink| sink.send());
        }
        turn
    }

    fn request(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
    ) -> Result<CompletionRequest, Failure> {
        let completion = conversation::request(self.api, &self.name, request, tools)?;
        let mut completion = completion.accept_unknown_finish_reasons(true);
        if self.separates_results {
            completion.chat_history =
                message_order::with_separated_results(completion.chat_history);
        }
        let completion = generation::apply(
            self.api,
            &self.name,
            &self.info.generation,
            request,
            tools,
            completion,
        )
        .map_err(|error| Failure {
            error,
            is_transient: false,
        })?;
        let mut fields = self.fields.clone();
        // rig passes these tools on as they are. Its own definitions have no mode per tool, and fields that gateways refuse.
        if tools.list().len() > 0 {
            fields.insert("tools".to_owned(), tools_field(self.api, tools));
        }
        Ok(if fields.is_empty() {
            completion
        } else {
            completion.additional_params(Value::Object(fields))
        })
    }

    async fn streamed(
        &self,
        request: CompletionRequest,
        text_sink: Option<TextSink<'_>>,
        arguments: &mut StreamedArguments,
        has_begun: &mut bool,
    ) -> Result<CompletionResponse, rig_core::ProviderError> {
        let mut stream = self.model.stream(request)?;
        let mut texts = (0, WrittenThoughts::default());
        while let Some(item) = stream.next().await {
            let item = item?;
            *has_begun = true;
            let Item::Event(event) = item else { continue };
            arguments.push(&event);
            if let (StreamEvent::Text { part, text }, Some(sink)) = (event, text_sink) {
                if part.index() != texts.0 {
                    send_text(sink, &texts.1.finish());
                    texts = (part.index(), WrittenThoughts::default());
                }
                send_text(sink, &texts.1.read(&text));
            }
        }
        text_sink
            .iter()
            .for_each(|sink| send_text(*sink, &texts.1.finish()));
        stream.finish().await
    }
}

fn send_text(sink: TextSink<'_>, text: &str) {
    if !text.is_empty() {
        sink.send(text);
    }
}

fn openai(mut dialect: Dialect, key: &str, base_url: String) -> OpenAIConfig {
    dialect.quirks.done_without_finish_reason = true;
    OpenAIConfig::with_key(&dialect, key).with_base_url(base_url)
}

/// Returns the definitions as the service takes them: Gemini's are the functions of one tool.
fn tools_field(api: Api, tools: &WireToolSet) -> Value {
    match api {
        Api::Gemini => json!([{"functionDeclarations": tools.value()}]),
        _ => tools.value().clone(),
    }
}

#[cfg(test)]
mod tests {
    use agent::{GenerationOptions, KeySource};

    use super::*;

    #[test]
    fn the_public_service_of_anthropic_is_asked_to_cache_unless_told_otherwise() {
        let options = ProviderOptions::new().with_key(KeySource::Environment("PATH".to_owned()));
        let asks = |options: &ProviderOptions| {
            let endpoint = Endpoint::new(Api::Anthropic, options).unwrap();
            let key = endpoint.key(options).unwrap();
            Model::new(endpoint, "claude-sonnet-4-5", key, options)
                .unwrap()
                .fields
                .contains_key("cache_control")
        };
        let silent = GenerationOptions {
            caching: Some(false),
            ..GenerationOptions::new()
        };
        assert!(asks(&options) && !asks(&options.clone().with_generation(silent)));
        assert!(!asks(&options.with_base_url("http://gateway.example.org")));
    }
}
