//! [`Difference`]: one difference between two definitions of a tool.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use tools::ToolName;
use tools::protocol::canonical_json;

use crate::fit;

/// The maximum length of a shown value, in columns.
const MAX_VALUE: usize = 60;

/// One difference between two definitions of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Difference {
    /// The name in the lock file, or the name of a new tool.
    pub(super) tool: ToolName,
    /// The place in the definition, as a JSON pointer. Empty for the whole tool.
    pub(super) place: String,
    /// The effect on callers.
    pub(super) verdict: Compatibility,
    #[serde(flatten)]
    pub(super) change: DefinitionChange,
}

/// The effect of a difference on callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Compatibility {
    /// Calls and grants that were valid may fail.
    Incompatible,
    /// The effect is not known. A person has to judge.
    Unknown,
    /// Calls and grants that were valid stay valid.
    Compatible,
}

/// A change of a definition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(super) enum DefinitionChange {
    ToolRemoved,
    ToolAdded,
    /// The tool answers to its former name.
    ToolRenamed {
        to: ToolName,
    },
    /// The former name means no tool any more, or another one.
    FormerNameRemoved {
        name: ToolName,
    },
    /// Calls, selections and policy rules with this name mean the tool now.
    FormerNameAdded {
        name: ToolName,
    },
    RequiredParameterAdded,
    OptionalParameterAdded,
    ParameterRemoved,
    ParameterRequired,
    ParameterOptional,
    TypeChanged {
        old: Value,
        new: Value,
    },
    /// The new types contain the old ones.
    TypeWidened {
        old: Value,
        new: Value,
    },
    ValueRemoved {
        value: Value,
    },
    ValueAdded {
        value: Value,
    },
    /// Any value was accepted, and a list of values is now.
    ValuesLimited {
        new: Value,
    },
    EffectAdded {
        effect: String,
    },
    EffectRemoved {
        effect: String,
    },
    /// A text for the reader: a description, a title or an example.
    TextChanged,
    /// The schema is written in another way, and accepts the same values.
    Rewritten,
    /// Any other change.
    Changed {
        old: Option<Value>,
        new: Option<Value>,
    },
}

impl DefinitionChange {
    pub(super) fn changed(old: Option<&Value>, new: Option<&Value>) -> Self {
        Self::Changed {
            old: old.cloned(),
            new: new.cloned(),
        }
    }

    /// Returns true if the change is about a text for the reader.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::TextChanged)
    }

    /// Returns the effect of the change if nothing around it matters.
    pub(super) fn verdict(&self) -> Compatibility {
        match self {
            Self::ToolRemoved
            | Self::FormerNameRemoved { .. }
            | Self::RequiredParameterAdded
            | Self::ParameterRemoved
            | Self::ParameterRequired
            | Self::TypeChanged { .. }
            | Self::ValueRemoved { .. }
            | Self::ValuesLimited { .. }
            | Self::EffectAdded { .. } => Compatibility::Incompatible,
            Self::ToolAdded
            | Self::ToolRenamed { .. }
            | Self::OptionalParameterAdded
            | Self::ParameterOptional
            | Self::TypeWidened { .. }
            | Self::ValueAdded { .. }
            | Self::TextChanged
            | Self::Rewritten => Compatibility::Compatible,
            Self::FormerNameAdded { .. } | Self::EffectRemoved { .. } | Self::Changed { .. } => {
                Compatibility::Unknown
            }
        }
    }
}

impl fmt::Display for DefinitionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolRemoved => f.write_str(
                "the tool is removed; if another replaces it, declare this name as its `was`",
            ),
            Self::ToolAdded => f.write_str("the tool is new"),
            Self::ToolRenamed { to } => {
                write!(f, "the tool is called {to} now, and answers to this name")
            }
            Self::FormerNameRemoved { name } => {
                write!(f, "the former name {name} does not mean this tool any more")
            }
            Self::FormerNameAdded { name } => {
                write!(f, "calls and rules with the name {name} mean this tool now")
            }
            Self::RequiredParameterAdded => f.write_str("the parameter is new and required"),
            Self::OptionalParameterAdded => f.write_str("the parameter is new and optional"),
            Self::ParameterRemoved => f.write_str("the parameter is removed"),
            Self::ParameterRequired => f.write_str("the parameter is required now"),
            Self::ParameterOptional => f.write_str("the parameter is optional now"),
            Self::TypeChanged { old, new } | Self::TypeWidened { old, new } => {
                write!(f, "the type was {} and is {}", shown(old), shown(new))
            }
            Self::ValueRemoved { value } => write!(f, "the value {} is removed", shown(value)),
            Self::ValueAdded { value } => write!(f, "the value {} is new", shown(value)),
            Self::ValuesLimited { new } => {
                write!(f, "only these values are accepted now: {}", shown(new))
            }
            Self::EffectAdded { effect } => write!(f, "the effect is new: {effect}"),
            Self::EffectRemoved { effect } => write!(f, "the effect is removed: {effect}"),
            Self::TextChanged => f.write_str("the text is changed"),
            Self::Rewritten => {
                f.write_str("it is written in another way; the same values are valid")
            }
            Self::Changed {
                old: Some(old),
                new: Some(new),
            } => {
                write!(f, "it was {} and is {}", shown(old), shown(new))
            }
            Self::Changed {
                old: None,
                new: Some(new),
            } => write!(f, "it is new: {}", shown(new)),
            Self::Changed {
                old: Some(old),
                new: None,
            } => write!(f, "it is removed; it was {}", shown(old)),
            Self::Changed {
                old: None,
                new: None,
            } => f.write_str("the definition is changed"),
        }
    }
}

impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Incompatible => "incompatible",
            Self::Unknown => "unknown",
            Self::Compatible => "compatible",
        })
    }
}

fn shown(value: &Value) -> String {
    fit::cut(&canonical_json(value), MAX_VALUE)
}
