//! [`Turn`]: the model's response to one request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tools::ToolCall;
use tools::protocol::{Message, Part, Role};

/// A turn of the model: text, calls, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The message of the model.
    pub message: Message,
    /// The reason that the turn ended.
    pub stop: StopReason,
    /// The tokens used, if the provider reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, if the service names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of the response, if the service gave it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The reasons that calls cannot be run, by the call's position in the message, from 0. The reason becomes the result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<usize, String>,
}

/// The reason that a model's turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished its answer.
    #[default]
    Answer,
    /// The model waits for the results of its calls.
    Calls,
    /// The turn was cut off by the output limit.
    Length,
    /// The model or its provider declined to answer.
    Refusal,
    /// The service paused the turn, because it works on it by itself. The next request has the message, and its turn goes on with it.
    Paused,
    /// Another reason, as the provider spells it.
    Other(String),
}

/// Token counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The tokens read by the model.
    pub input_tokens: u64,
    /// The tokens written by the model.
    pub output_tokens: u64,
    /// The tokens among those read that the service had in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// The tokens among those read that the service wrote to its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Turn {
    /// Creates a turn from a message. Its stop reason is [`StopReason::Calls`] if the message has calls, else [`StopReason::Answer`].
    pub fn new(message: Message) -> Self {
        let stop = if message.calls().next().is_some() {
            StopReason::Calls
        } else {
            StopReason::Answer
        };
        Self {
            message,
            stop,
            usage: None,
            model: None,
            response_id: None,
            faults: BTreeMap::new(),
        }
    }

    /// Creates a turn of text only, which ends a run.
    pub fn answer(text: impl Into<String>) -> Self {
        Self::new(Message::text(Role::Assistant, text))
    }

    /// Creates a turn of calls only.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::new(Message {
            role: Role::Assistant,
            parts: calls.into_iter().map(Part::ToolCall).collect(),
        })
    }

    /// Sets the reason that a call cannot be run, for example because its arguments were cut off. Positions start at 0.
    #[must_use]
    pub fn with_fault(mut self, position: usize, reason: impl Into<String>) -> Self {
        self.faults.insert(position, reason.into());
        self
    }
}

impl Usage {
    /// Returns the tokens read and written.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_input_tokens = self
            .cached_input_tokens
            .saturating_add(other.cached_input_tokens);
        self.cache_write_tokens = self
            .cache_write_tokens
            .saturating_add(other.cache_write_tokens);
    }
}
