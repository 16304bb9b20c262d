//! The only module that uses rig. No type of rig leaves it, except the tools for rig's own agents.

mod agent_tool;
mod conversation;
mod failure;
mod message_end;
mod transport;
mod turn;

use agent::provider::DefaultService;
use agent::{ProviderError, Request, TextSink, Turn, WireToolSet};
use futures_util::StreamExt;
use rig_core::DynModel;
use rig_core::completion::{CompletionRequest, CompletionResponse};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::completion::CLAUDE_SONNET_5;
use rig_core::providers::anthropic::wire::{ANTHROPIC, AnthropicConfig};
use rig_core::providers::openai::OpenAIConfig;
use rig_core::providers::openai::completion::GPT_5_1;
use rig_core::streaming::{Item, StreamEvent};
use secrecy::{ExposeSecret, SecretString};
use tools::protocol::wire::Format;

use crate::Timeouts;
use crate::retry::Failure;
use transport::TimeoutClient;

pub use agent_tool::tools;

/// The output limit in tokens for Anthropic models whose own limit rig does not know.
const DEFAULT_MAX_TOKENS: u64 = 8192;

/// The API of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    OpenAi,
    Anthropic,
}

impl Api {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Returns the format of tools and calls.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::OpenAi => Format::OpenAiChat,
            Self::Anthropic => Format::Anthropic,
        }
    }

    /// Returns the public service. Its model has to call tools over the API that [`Model`] uses.
    pub(crate) const fn service(self) -> DefaultService {
        match self {
            Self::OpenAi => DefaultService { key_variable: "OPENAI_API_KEY", model: GPT_5_1 },
            Self::Anthropic => DefaultService { key_variable: "ANTHROPIC_API_KEY", model: CLAUDE_SONNET_5 },
        }
    }
}

/// A model with its HTTP client.
pub(crate) struct Model {
    api: Api,
    model: DynModel<Completion>,
    max_tokens: Option<u64>,
    key: SecretString,
}

impl Model {
    pub(crate) fn new(
        api: Api,
        name: &str,
        base_url: Option<&str>,
        key: SecretString,
        timeouts: &Timeouts,
    ) -> Result<Self, ProviderError> {
        let http = TimeoutClient::new(api, timeouts).map_err(|error| ProviderError::Options {
            provider: api.name().to_owned(),
            reason: format!("cannot create an HTTP client: {error}; check the certificates of this machine"),
        })?;
        let secret = key.expose_secret();
        let (model, max_tokens) = match api {
            Api::OpenAi => {
                let mut config = OpenAIConfig::new(secret);
                config.dialect.quirks.done_without_finish_reason = true;
                let config = base_url.into_iter().fold(config, |config, url| config.with_base_url(url));
                (config.connect(http).chat(name).erase(), None)
            }
            Api::Anthropic => {
                let config = AnthropicConfig::new(secret);
                let config = base_url.into_iter().fold(config, |config, url| config.with_base_url(url));
                let is_known = ANTHROPIC.default_max_tokens(name).is_some();
                (config.connect(http).completion(name).erase(), (!is_known).then_some(DEFAULT_MAX_TOKENS))
            }
        };
        Ok(Self { api, model, max_tokens, key })
    }

    /// Makes one attempt at a turn.
    pub(crate) async fn turn(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
        streaming: bool,
        text_sink: Option<TextSink<'_>>,
    ) -> Result<Turn, Failure> {
        let completion = conversation::request(self.api, request, tools)?
            .max_tokens(self.max_tokens)
            .accept_unknown_finish_reasons(true);
        let response =
            if streaming { self.streamed(completion, text_sink).await } else { self.model.call(completion).await };
        response
            .map(|response| turn::turn(response, tools))
            .map_err(|error| failure::failure(self.api, &self.key, &error))
    }

    async fn streamed(
        &self,
        request: CompletionRequest,
        text_sink: Option<TextSink<'_>>,
    ) -> Result<CompletionResponse, rig_core::ProviderError> {
        let mut stream = self.model.stream(request)?;
        while let Some(item) = stream.next().await {
            if let (Item::Event(StreamEvent::Text { text, .. }), Some(sink)) = (item?, text_sink) {
                sink.send(&text);
            }
        }
        stream.finish().await
    }
}
