//! [`Arguments`]: the arguments of a call, before parsing.

use std::fmt;

use protocol::Json;
use serde_json::Value;

/// The arguments of a call: parsed JSON, or text that the pipeline [parses](Json::parse).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// Parsed JSON.
    Json(Json),
    /// JSON text.
    Text(String),
}

impl Arguments {
    /// The maximum size of arguments as JSON text: 1 MiB.
    pub const MAX_BYTES: usize = 1024 * 1024;
}

impl From<Json> for Arguments {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        Self::Json(value.into())
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
    /// Prints the variant without its content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json(_) => "Json(..)",
            Self::Text(_) => "Text(..)",
        })
    }
}
