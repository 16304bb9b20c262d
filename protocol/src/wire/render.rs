//! Tools as the JSON of a service.

use super::definition::{Field, Fields, Parts};
use super::schema::{Dialect, NotStrict, Unsendable, WireSchema};
use super::{
    Format, Strictness, WireTool, anthropic, gemini, mcp, ollama, openai_chat, openai_responses,
};
use crate::tool::Tool;

impl Format {
    /// Returns true if the service has a strict mode.
    pub fn has_strict_mode(self) -> bool {
        self.dialects().1.is_some()
    }

    /// Returns the part of JSON Schema without strict mode, and the one in strict mode.
    fn dialects(self) -> (&'static Dialect, Option<&'static Dialect>) {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => {
                (&openai_chat::DIALECT, Some(&openai_chat::STRICT))
            }
            Self::Anthropic => (&anthropic::DIALECT, Some(&anthropic::STRICT)),
            Self::Gemini => (&gemini::DIALECT, None),
            Self::Ollama => (&ollama::DIALECT, None),
            Self::Mcp => (&mcp::DIALECT, None),
        }
    }

    /// Returns a tool as the service takes it, without its examples. If the tool has no strict definition, the result is relaxed and
    /// has the reason.
    ///
    /// ```
    /// use protocol::Tool;
    /// use protocol::wire::{Format, Strictness};
    /// use serde_json::json;
    ///
    /// let tool = Tool::new("fs.read", "Reads.", json!({"properties": {"$at": {"type": "string"}}}))?;
    /// let wire = Format::Anthropic.tool(&tool, Strictness::Relaxed)?;
    /// assert_eq!(
    ///     &*wire.definition,
    ///     r#"{"name":"fs__read","description":"Reads.","input_schema":{"properties":{"at":{"type":"string"}},"type":"object"}}"#,
    /// );
    /// assert_eq!(wire.arguments.decode(&json!({"at": "x"}).into()), json!({"$at": "x"}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the reason if the service would refuse every form of the tool. A request has to skip the tool.
    pub fn tool(self, tool: &Tool, strictness: Strictness) -> Result<WireTool, Unsendable> {
        self.render(tool, strictness, false)
    }

    /// Returns a tool like [`tool`](Self::tool), with its examples in the service's field for them, or else at the end of the
    /// description.
    ///
    /// A service may refuse a whole request for one example that does not match its tool. The caller has to leave such examples out.
    ///
    /// # Errors
    /// Returns the reason if the service would refuse every form of the tool. A request has to skip the tool.
    pub fn tool_with_examples(
        self,
        tool: &Tool,
        strictness: Strictness,
    ) -> Result<WireTool, Unsendable> {
        self.render(tool, strictness, true)
    }

    fn render(
        self,
        tool: &Tool,
        strictness: Strictness,
        has_examples: bool,
    ) -> Result<WireTool, Unsendable> {
        let (relaxed, strict) = self.dialects();
        let not_strict = match strict {
            _ if strictness == Strictness::Relaxed => NotStrict::NotRequested,
            None => NotStrict::Unavailable,
            Some(strict) => match WireSchema::new(&tool.parameters, strict) {
                Ok(schema) => return Ok(WireTool::new(self, tool, schema, Ok(()), has_examples)),
                Err(Unsendable::NotStrict(reason)) => reason,
                Err(reason) => return Err(reason),
            },
        };
        let schema = WireSchema::new(&tool.parameters, relaxed)?;
        Ok(WireTool::new(
            self,
            tool,
            schema,
            Err(not_strict),
            has_examples,
        ))
    }

    /// Returns the fields of one element of the service's list of tools.
    pub(super) fn fields(self, parts: Parts<'_>) -> Fields {
        match self {
            Self::OpenAiChat | Self::Ollama => {
                vec![
                    ("type", "function".into()),
                    ("function", Field::Object(openai_chat::definition(parts))),
                ]
            }
            Self::OpenAiResponses => openai_responses::definition(parts),
            Self::Anthropic => anthropic::definition(parts),
            Self::Gemini => gemini::definition(parts),
            Self::Mcp => mcp::definition(parts),
        }
    }
}
