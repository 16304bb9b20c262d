//! [`GenerationOptions`]: the settings of a model's answers.

use std::fmt;
use std::str::FromStr;

/// The settings of a model's answers. `None` means the default of the service or of the model.
///
/// A provider refuses an option that its service or its model does not take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationOptions {
    /// The most tokens that the model writes in one turn, reasoning included. Without it, the service's default holds. Anthropic's API
    /// needs a number, and gets the model's own limit, or 8192 for an unknown model. A summary in a compaction may have 4096, because a
    /// part of one is of no use.
    pub max_output_tokens: Option<u32>,
    /// The sampling temperature, from 0 to 2.
    pub temperature: Option<f64>,
    /// The calls that the model may or must make.
    pub tool_choice: Option<ToolChoice>,
    /// The effort that the model puts into reasoning.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// True to ask the service to cache the tools, the system text and the conversation, where it caches only on request. Defaults to
    /// true for Anthropic's public service only, because gateways may refuse the field.
    pub caching: Option<bool>,
}

/// The calls that a model may or must make.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// The model answers without calls.
    None,
    /// The model makes at least one call in the first turn after a user's prompt. It decides in later turns, or no run would end. So do
    /// sub-agents.
    Required,
    /// The model calls the tool of this name in the first turn after a user's prompt. It decides in later turns, and so do sub-agents.
    Tool(String),
}

/// The effort that a model puts into reasoning, least first. Models know some of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// No reasoning.
    Off,
    /// The least reasoning.
    Minimal,
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// More than high effort.
    ExtraHigh,
    /// The most reasoning.
    Max,
}

/// No effort has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no reasoning effort {name:?}; use one of: {}", ReasoningEffort::ALL.map(ReasoningEffort::name).join(", "))]
#[non_exhaustive]
pub struct UnknownEffort {
    /// The text that names no effort.
    pub name: String,
}

impl ReasoningEffort {
    /// Every effort, least first.
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::ExtraHigh,
        Self::Max,
    ];

    /// Returns the name, such as `low`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::ExtraHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl FromStr for ReasoningEffort {
    type Err = UnknownEffort;

    fn from_str(name: &str) -> Result<Self, UnknownEffort> {
        let found = Self::ALL.into_iter().find(|effort| effort.name() == name);
        found.ok_or_else(|| UnknownEffort {
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for ReasoningEffort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads `auto`, `none`, `required`, or the name of a tool.
impl From<&str> for ToolChoice {
    fn from(text: &str) -> Self {
        match text {
            "auto" => Self::Auto,
            "none" => Self::None,
            "required" => Self::Required,
            tool => Self::Tool(tool.to_owned()),
        }
    }
}

/// Formats the choice as [`From`] reads it.
impl fmt::Display for ToolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Required => "required",
            Self::Tool(name) => name,
        })
    }
}

impl GenerationOptions {
    /// Creates options without a setting.
    pub const fn new() -> Self {
        Self {
            max_output_tokens: None,
            temperature: None,
            tool_choice: None,
            reasoning_effort: None,
            caching: None,
        }
    }
}
