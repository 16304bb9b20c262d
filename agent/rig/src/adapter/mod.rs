//! The one room that knows rig. Nothing of rig leaves it.

mod conversation;
mod definition;
mod failure;
mod message_end;
mod transport;
mod turn;

use agent::{ProviderError, Request, TextReader, Turn};
use futures_util::StreamExt;
use rig_core::DynModel;
use rig_core::completion::{CompletionRequest, CompletionResponse};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::wire::{ANTHROPIC, AnthropicConfig};
use rig_core::providers::openai::OpenAIConfig;
use rig_core::streaming::{Item, StreamEvent};
use secrecy::{ExposeSecret, SecretString};
use tools::protocol::wire::WireNames;

use crate::Patience;
use crate::attempt::Failure;
use transport::Timed;

/// What Anthropic is asked to write at most, in tokens, where nobody knows the model's own limit.
const DEFAULT_MAX_TOKENS: u64 = 8192;

/// How a service is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    OpenAi,
    Anthropic,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    pub(crate) fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// A model, ready to be asked.
pub(crate) struct Model {
    format: Format,
    model: DynModel<Completion>,
    max_tokens: Option<u64>,
    key: SecretString,
}

impl Model {
    pub(crate) fn new(
        format: Format,
        name: &str,
        base_url: Option<&str>,
        key: SecretString,
        patience: &Patience,
    ) -> Result<Self, ProviderError> {
        let http = Timed::new(format, patience).map_err(|error| ProviderError::Options {
            provider: format.name().to_owned(),
            reason: format!("no HTTP client can be made: {error}; check the certificates of this machine"),
        })?;
        let secret = key.expose_secret();
        let (model, max_tokens) = match format {
            Format::OpenAi => {
                let mut config = OpenAIConfig::new(secret);
                config.dialect.quirks.done_without_finish_reason = true;
                let config = base_url.into_iter().fold(config, |config, url| config.with_base_url(url));
                (config.connect(http).chat(name).erase(), None)
            }
            Format::Anthropic => {
                let config = AnthropicConfig::new(secret);
                let config = base_url.into_iter().fold(config, |config, url| config.with_base_url(url));
                let is_known = ANTHROPIC.default_max_tokens(name).is_some();
                (config.connect(http).completion(name).erase(), (!is_known).then_some(DEFAULT_MAX_TOKENS))
            }
        };
        Ok(Self { format, model, max_tokens, key })
    }

    /// One attempt at a turn.
    pub(crate) async fn turn(
        &self,
        request: &Request<'_>,
        names: &WireNames,
        streaming: bool,
        reader: Option<TextReader<'_>>,
    ) -> Result<Turn, Failure> {
        let asked = conversation::request(self.format, request, names)?
            .tools(definition::definitions(self.format, request.tools, names)?)
            .max_tokens(self.max_tokens)
            .accept_unknown_finish_reasons(true);
        let answer = if streaming { self.streamed(asked, reader).await } else { self.model.call(asked).await };
        answer.map(|answer| turn::turn(answer, names)).map_err(|error| failure::failure(self.format, &self.key, &error))
    }

    async fn streamed(
        &self,
        asked: CompletionRequest,
        reader: Option<TextReader<'_>>,
    ) -> Result<CompletionResponse, rig_core::ProviderError> {
        let mut stream = self.model.stream(asked)?;
        while let Some(item) = stream.next().await {
            if let (Item::Event(StreamEvent::Text { text, .. }), Some(reader)) = (item?, reader) {
                reader.read(&text);
            }
        }
        stream.finish().await
    }
}
