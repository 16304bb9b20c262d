//! [`Arguments`]: the arguments of a call as they arrive.

use std::fmt;

use protocol::Json;
use serde_json::Value;

/// The arguments of a call as they arrive: JSON, or text that the pipeline [parses](Json::parse).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// JSON that was read.
    Json(Json),
    /// JSON text.
    Text(String),
}

impl Arguments {
    /// The greatest size of arguments as JSON text: 1 MiB.
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
    /// Shows the form and nothing of the content: some of it may be secret, which only the tool knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json(_) => "Json(..)",
            Self::Text(_) => "Text(..)",
        })
    }
}
