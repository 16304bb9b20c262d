//! [`Turn`]: what a model says in answer to one request.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tools::ToolCall;
use tools::protocol::{Message, Part, Role};

/// One turn of a model: text, calls, or both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// What the model said.
    pub message: Message,
    /// Why it stopped.
    pub stop: Stop,
    /// What it took, where the provider says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why calls cannot be run, by their position among the calls of the message. Each of these gets its reason for a result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<usize, String>,
}

/// Why a model stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// It had said what it wanted to say.
    #[default]
    Answer,
    /// It waits for the results of its calls.
    Calls,
    /// It reached the limit of its output.
    Length,
    /// It, or its provider, declined.
    Refusal,
    /// Something else, in the provider's word.
    Other(String),
}

/// What a turn took, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
}

impl Turn {
    /// A turn of this message. It stops for its calls where it has some.
    pub fn new(message: Message) -> Self {
        let stop = if message.calls().next().is_some() { Stop::Calls } else { Stop::Answer };
        Self { message, stop, usage: None, faults: BTreeMap::new() }
    }

    /// A turn of text alone: it ends a run.
    pub fn answer(text: impl Into<String>) -> Self {
        Self::new(Message::text(Role::Assistant, text))
    }

    /// A turn of calls alone.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::new(Message { role: Role::Assistant, parts: calls.into_iter().map(Part::ToolCall).collect() })
    }

    /// Says why it stopped.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Says what it took.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Says why a call cannot be run, such as one whose arguments were cut off. The first call of the message is at 0.
    #[must_use]
    pub fn with_fault(mut self, position: usize, reason: impl Into<String>) -> Self {
        self.faults.insert(position, reason.into());
        self
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}
