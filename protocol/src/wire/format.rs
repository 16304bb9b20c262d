//! [`Format`]: the formats of model services and MCP.

use std::sync::OnceLock;

use super::NameGrammar;

/// The format in which a service takes tools and makes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenAI's Chat Completions API and compatible services.
    OpenAiChat,
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// Ollama's chat API.
    Ollama,
    /// The Model Context Protocol.
    Mcp,
}

/// The mode of a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strictness {
    /// The model may send any arguments. The pipeline judges them.
    #[default]
    Relaxed,
    /// The service makes the model send arguments that match the schema.
    Strict,
}

/// A lazily initialised value per format and mode.
#[derive(Clone, Debug)]
pub struct FormatCell<T>([[OnceLock<T>; 2]; Format::ALL.len()]);

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
        Self::Mcp,
    ];

    /// Returns the name, such as `openai-chat`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Mcp => "mcp",
        }
    }

    /// Returns the grammar of tool names.
    pub fn names(self) -> NameGrammar {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic | Self::Ollama => {
                NameGrammar::Provider
            }
            Self::Gemini => NameGrammar::Gemini,
            Self::Mcp => NameGrammar::Mcp,
        }
    }

    /// Returns the number of tools that the public service takes in one request. Returns `None` if it documents no limit.
    pub fn most_tools(self) -> Option<usize> {
        match self {
            // "A max of 128 functions are supported": https://platform.openai.com/docs/api-reference/chat/create
            Self::OpenAiChat => Some(128),
            // "At most 512 function declarations can be specified": https://github.com/google-gemini/gemini-cli/issues/19083
            Self::Gemini => Some(512),
            _ => None,
        }
    }

    /// Returns true if a definition has a field for examples.
    pub fn takes_examples(self) -> bool {
        self == Self::Anthropic
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl<T> FormatCell<T> {
    /// Creates an empty cell.
    pub const fn new() -> Self {
        Self([const { [const { OnceLock::new() }; 2] }; Format::ALL.len()])
    }

    /// Returns the value of a format and mode. Calls `make` on first use.
    pub fn get_or_init(
        &self,
        format: Format,
        strictness: Strictness,
        make: impl FnOnce() -> T,
    ) -> &T {
        self.0[format as usize][strictness as usize].get_or_init(make)
    }
}

impl<T> Default for FormatCell<T> {
    fn default() -> Self {
        Self::new()
    }
}
