//! [`Api`]: the APIs of services.

use rig_core::providers::anthropic::completion::CLAUDE_SONNET_5;
use rig_core::providers::anthropic::wire::ANTHROPIC;
use rig_core::providers::gemini;
use rig_core::providers::gemini::completion::GEMINI_3_8_FLASH;
use rig_core::providers::openai::completion::{GPT_5_1, GPT_5_6};
use rig_core::providers::openai::wire::OPENAI;
use tools::protocol::wire::Format;

/// The API of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    OpenAi,
    OpenAiResponses,
    Anthropic,
    Gemini,
    Ollama,
}

impl Api {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the format of tools and calls.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::OpenAi => Format::OpenAiChat,
            Self::OpenAiResponses => Format::OpenAiResponses,
            Self::Anthropic => Format::Anthropic,
            Self::Gemini => Format::Gemini,
            Self::Ollama => Format::Ollama,
        }
    }

    /// Returns the URL of the usual service.
    pub(crate) fn public_url(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiResponses => OPENAI.base_url,
            Self::Anthropic => ANTHROPIC.base_url,
            Self::Gemini => gemini::BASE_URL,
            Self::Ollama => "http://localhost:11434",
        }
    }

    /// Returns the usual environment variable of the key.
    pub(crate) fn key_variable(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiResponses => OPENAI.api_key_env,
            Self::Anthropic => ANTHROPIC.api_key_env,
            Self::Gemini => gemini::API_KEY_ENV,
            Self::Ollama => "OLLAMA_API_KEY",
        }
    }

    /// Returns a model of the usual service that calls tools over this API. Ollama's models are those that its user has pulled.
    pub(crate) fn default_model(self) -> Option<&'static str> {
        match self {
            // Later models call tools over chat completions only without reasoning.
            Self::OpenAi => Some(GPT_5_1),
            Self::OpenAiResponses => Some(GPT_5_6),
            Self::Anthropic => Some(CLAUDE_SONNET_5),
            Self::Gemini => Some(GEMINI_3_8_FLASH),
            Self::Ollama => None,
        }
    }

    /// Returns true if the usual service needs a key.
    pub(crate) fn needs_key(self) -> bool {
        self != Self::Ollama
    }

    /// Returns true if the variants of services are known by name.
    pub(crate) fn has_dialects(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiResponses)
    }
}
