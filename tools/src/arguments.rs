//! [`Arguments`]: what a call was given, before anybody has looked at it.

use std::fmt;

use serde_json::Value;

/// The arguments of a call as they arrive: a JSON value, or JSON text that the counter parses strictly (duplicate keys
/// are refused).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// A value.
    Value(Value),
    /// JSON text.
    Text(String),
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<String> for Arguments {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Arguments {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl fmt::Debug for Arguments {
    /// How they came, and nothing of them: some may be secret, and which is known to their tool alone.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value(_) => "Value(..)",
            Self::Text(_) => "Text(..)",
        })
    }
}
