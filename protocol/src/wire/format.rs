//! [`Format`]: the formats of tool definitions.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{anthropic, openai_chat, parameters};
use crate::{Tool, canonical_json};

/// The format in which a provider's API takes tool definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The `tools` of OpenAI's Chat Completions API and of compatible services.
    OpenAiChat,
    /// The `tools` of Anthropic's Messages API.
    Anthropic,
}

/// A lazily initialised value per format.
#[derive(Clone, Debug)]
pub struct FormatCell<T> {
    openai_chat: OnceLock<T>,
    anthropic: OnceLock<T>,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 2] = [Self::OpenAiChat, Self::Anthropic];

    /// Returns the definition of a tool as JSON text, with the given [spelling](super::WireNames) of its name. The bytes do not
    /// depend on the order of keys in the schema.
    ///
    /// ```
    /// use protocol::Tool;
    /// use protocol::wire::Format;
    /// use serde_json::json;
    ///
    /// let tool = Tool::new("fs.read", "Reads.", json!({"type": "object"}))?;
    /// assert_eq!(
    ///     &*Format::Anthropic.definition(&tool, "fs_read"),
    ///     r#"{"name":"fs_read","description":"Reads.","input_schema":{"type":"object"}}"#,
    /// );
    /// # Ok::<(), protocol::InvalidName>(())
    /// ```
    pub fn definition(self, tool: &Tool, spelling: &str) -> Arc<str> {
        let render = match self {
            Self::OpenAiChat => openai_chat::definition,
            Self::Anthropic => anthropic::definition,
        };
        let [name, description] = [spelling, &tool.description].map(|text| canonical_json(&Value::from(text)));
        render(&name, &description, &canonical_json(&*parameters::typed(&tool.parameters))).into()
    }
}

impl<T> FormatCell<T> {
    /// Creates an empty cell.
    pub const fn new() -> Self {
        Self { openai_chat: OnceLock::new(), anthropic: OnceLock::new() }
    }

    /// Returns the value of a format. Calls `make` on first use.
    pub fn get_or_init(&self, format: Format, make: impl FnOnce() -> T) -> &T {
        let cell = match format {
            Format::OpenAiChat => &self.openai_chat,
            Format::Anthropic => &self.anthropic,
        };
        cell.get_or_init(make)
    }
}

impl<T> Default for FormatCell<T> {
    fn default() -> Self {
        Self::new()
    }
}
