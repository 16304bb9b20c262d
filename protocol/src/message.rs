//! [`Message`]: one message of a conversation between a person, a model and its tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::ToolCall;
use crate::content::Content;
use crate::json::Json;
use crate::result::ToolResult;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The host that set up the session.
    System,
    /// The person or program that sends prompts.
    User,
    /// The model.
    Assistant,
    /// The pipeline, which returns results of calls.
    Tool,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Text or another content block.
    Content(Content),
    /// A tool call requested by the model.
    ToolCall(ToolCall),
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The name that the call requested.
        name: String,
        /// The result.
        result: ToolResult,
    },
    /// The reasoning of a model. It is sent back to the model unchanged and is not part of its answer.
    Reasoning {
        /// The readable reasoning; often empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Provider-specific data to send back unchanged, such as signatures and encrypted reasoning.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        opaque: Value,
    },
}

impl Message {
    /// Creates a message with one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            parts: vec![Part::Content(Content::text(text))],
        }
    }

    /// Returns the tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Frees memory that the message does not need, such as the spare room of texts that were written piece by piece.
    pub fn shrink_to_fit(&mut self) {
        self.parts.shrink_to_fit();
        for part in &mut self.parts {
            match part {
                Part::Content(content) => shrink_text(content),
                Part::ToolCall(call) => call.arguments.shrink_to_fit(),
                Part::ToolResult { result, .. } => {
                    result.content.shrink_to_fit();
                    result.content.iter_mut().for_each(shrink_text);
                    result.structured.iter_mut().for_each(Json::shrink_to_fit);
                }
                Part::Reasoning { text, .. } => text.shrink_to_fit(),
            }
        }
    }

    /// Returns the texts, joined with line breaks, without reasoning and tool results.
    pub fn to_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Content(content) => content.as_text(),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Frees the spare memory of a text. That of other content is written at once.
fn shrink_text(content: &mut Content) {
    if let Content::Text { text } = content {
        text.shrink_to_fit();
    }
}
