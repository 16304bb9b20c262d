//! [`Api`]: the APIs of services.

use agent::ProviderError;
use serde::Deserialize;
use tools::protocol::wire::Format;

/// The API of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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

    /// Returns the error of an option that cannot be used.
    pub(crate) fn refuse(self, reason: impl Into<String>) -> ProviderError {
        ProviderError::options(self.name(), reason)
    }

    /// Returns the name in stored data.
    pub(crate) fn stored_name(self) -> &'static str {
        match self {
            // Sessions are stored with these names: a changed one would make the thoughts in them those of another model.
            Self::OpenAi => "openai.chat",
            Self::OpenAiResponses => "openai.responses",
            Self::Anthropic => "anthropic.messages",
            Self::Gemini => "gemini.generate_content",
            Self::Ollama => "ollama.chat",
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

    /// Returns a model of the usual service that calls tools over this API. Ollama's models are those that its user has pulled.
    pub(crate) fn default_model(self) -> Option<&'static str> {
        match self {
            // Later models call tools over chat completions only without reasoning.
            Self::OpenAi => Some("gpt-5.1"),
            Self::OpenAiResponses => Some("gpt-5.6"),
            Self::Anthropic => Some("claude-sonnet-5"),
            Self::Gemini => Some("gemini-3.8-flash"),
            Self::Ollama => None,
        }
    }

    /// Returns true if the variants of services are known by name.
    pub(crate) fn has_dialects(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiResponses)
    }
}
