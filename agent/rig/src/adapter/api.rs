//! [`Api`]: the APIs of services.

use agent::provider::DefaultService;
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

    /// Returns the usual service. Its model has to call tools over this API.
    pub(crate) const fn service(self) -> DefaultService {
        let (base_url, key_variable, model) = match self {
            // Later models call tools over chat completions only without reasoning.
            Self::OpenAi => (OPENAI.base_url, OPENAI.api_key_env, Some(GPT_5_1)),
            Self::OpenAiResponses => (OPENAI.base_url, OPENAI.api_key_env, Some(GPT_5_6)),
            Self::Anthropic => (ANTHROPIC.base_url, ANTHROPIC.api_key_env, Some(CLAUDE_SONNET_5)),
            Self::Gemini => (gemini::BASE_URL, gemini::API_KEY_ENV, Some(GEMINI_3_8_FLASH)),
            // The models are those that its user has pulled.
            Self::Ollama => ("http://localhost:11434", "OLLAMA_API_KEY", None),
        };
        DefaultService { base_url, key_variable, model }
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
