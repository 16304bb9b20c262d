//! Writes the requests of a [`Model`].

use std::sync::Arc;

use agent::{ProviderError, Request, WireToolSet};
use serde_json::Value;
use tools::protocol::Message;
use tools::protocol::wire::Format;

use crate::api::Api;
use crate::conversation::{Reading, Unit};
use crate::grown::{Written, WrittenConversation};
use crate::model::Model;
use crate::profile::RequestParts;
use crate::request_body::RequestBody;
use crate::retry::Failure;
use crate::settings::forced_call;
use crate::{anthropic, chat, gemini, ollama, responses};

impl Model {
    /// Returns the body of a request.
    pub(crate) fn body(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
        streaming: bool,
    ) -> Result<Vec<u8>, Failure> {
        let profile = &self.profile;
        let choice = profile.generation.tool_choice.as_ref();
        let forced_call =
            forced_call(profile.api, choice, request, tools).map_err(Failure::permanent)?;
        let conversation = self.conversation(request.messages, tools);
        // Services refuse a conversation without a user's turn; this error says what is missing.
        if !conversation.has_prompt() {
            return Err(Failure::permanent(ProviderError::NoPrompt));
        }
        let limit = profile.generation.max_output_tokens;
        let parts = RequestParts {
            tools,
            forced_call,
            // A low limit of the user would cut a summary off, and the run could not go on.
            output_limit: limit.map(|limit| limit.max(request.min_output_tokens).into()),
            streaming,
            system: conversation.system().collect(),
        };
        let asked = match profile.api {
            Api::OpenAi => chat::request::request_for_call(profile, &parts),
            _ => None,
        };
        let asked = asked.map(|message| message.to_string());
        let messages = conversation.messages().chain(asked.as_deref());
        let mut body = RequestBody::with_room(messages.clone().chain([&**tools.definitions()]));
        for (name, value) in &self.settings {
            body.field(name, value);
        }
        let place = match profile.api {
            Api::OpenAiResponses => "input",
            Api::Gemini => "contents",
            _ => "messages",
        };
        body.list(place, messages);
        match profile.api {
            Api::OpenAi => chat::request::body(profile, &parts, &mut body),
            Api::OpenAiResponses => responses::request::body(&parts, &mut body),
            Api::Anthropic => anthropic::request::body(profile, &parts, &mut body),
            Api::Gemini => gemini::request::body(profile, &parts, &mut body),
            Api::Ollama => ollama::request::body(profile, &parts, &mut body),
        }
        Ok(body.into_bytes())
    }

    /// Returns the conversation as it is written, of which the beginning mostly was before.
    fn conversation(&self, messages: &[Message], tools: &WireToolSet) -> Arc<WrittenConversation> {
        let api = self.profile.api;
        let reading = Reading {
            format: api.format(),
            placement: self.image_placement(),
            origin: &self.origin,
            images: self.profile.images,
            tools,
            // Services refuse a turn of thoughts alone, or one that ends with them.
            is_thought: match api {
                Api::OpenAi => |item| matches!(item["type"].as_str(), None | Some("thinking")),
                Api::OpenAiResponses => |item| item["type"] == "reasoning",
                Api::Anthropic => anthropic::request::is_thought,
                Api::Gemini => |item| item["thought"] == true,
                Api::Ollama => |_| true,
            },
        };
        self.grown.grow(
            tools.definitions(),
            messages,
            |start| reading.units(messages, start),
            |unit, is_first| self.write_unit(reading.read(unit), is_first),
        )
    }

    /// Writes a unit. `is_first` is true if no message of the service precedes it.
    fn write_unit(&self, unit: Unit<'_>, is_first: bool) -> Written {
        let profile = &self.profile;
        let is_prompt = matches!(unit, Unit::User { .. });
        let has_field = match profile.api {
            Api::Anthropic | Api::Gemini => true,
            // The field precedes all items, so that a text between turns has to be an item of its own.
            Api::OpenAiResponses => is_first && profile.service.instructions,
            Api::OpenAi | Api::Ollama => false,
        };
        let unit = match unit {
            Unit::System(text) if has_field => return Written::System(text.into()),
            unit => unit,
        };
        let messages = match profile.api {
            Api::OpenAi => chat::request::messages(profile, unit),
            Api::OpenAiResponses => responses::request::messages(profile, unit),
            Api::Anthropic => anthropic::request::messages(profile, unit),
            Api::Gemini => gemini::request::messages(profile, unit),
            Api::Ollama => ollama::request::messages(unit),
        };
        let texts: Vec<_> = messages.iter().map(Value::to_string).collect();
        let text = texts.join(",").into();
        if is_prompt {
            Written::User(text)
        } else {
            Written::Other(text)
        }
    }

    /// Returns the format whose places for the images of results the model has.
    fn image_placement(&self) -> Format {
        let Self { profile, .. } = self;
        // Before version 3, the model takes images in a user's message only.
        let is_old_gemini = profile.api == Api::Gemini
            && ["gemini-1", "gemini-2"]
                .iter()
                .any(|old| profile.name.contains(old));
        if is_old_gemini || profile.api == Api::Ollama {
            Format::OpenAiChat
        } else {
            profile.api.format()
        }
    }
}
