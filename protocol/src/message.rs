//! [`Message`]: one turn of a conversation between a person, a model and its tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Content, ToolCall, ToolResult};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// Whoever set up the session.
    System,
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
    /// The counter, answering calls.
    Tool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Content.
    Content(Content),
    /// A model's request to run a tool.
    ToolCall(ToolCall),
    /// The answer to such a request.
    ToolResult {
        /// The id of the call that is answered.
        id: String,
        /// The name that the call asked for.
        name: String,
        /// What it gave.
        result: ToolResult,
    },
    /// What a model thought on the way. It goes back to the model as it came, and is no part of the answer.
    Reasoning {
        /// What can be read of it; often nothing.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// What the provider that made it wants back: signatures and sealed text, in a form of its own.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        opaque: Value,
    },
}

impl Message {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, parts: vec![Part::Content(Content::text(text))] }
    }

    /// The calls in it, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Its texts, joined with line breaks; results of tools are not among them.
    pub fn to_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Content(content) => content.as_text(),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
