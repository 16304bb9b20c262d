//! [`Content`]: the pieces that results and messages are made of.

use serde::{Deserialize, Serialize};

/// One piece of content. The kinds are those of MCP's content blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// The bytes of the file, in base64 (RFC 4648, with padding).
        data: String,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// A recording.
    Audio {
        /// The bytes of the file, in base64 (RFC 4648, with padding).
        data: String,
        /// The media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A pointer to something that the reader may fetch.
    ResourceLink {
        /// Where it is.
        uri: String,
        /// What it is called.
        name: String,
        /// What it holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Its size, in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
    /// Something embedded whole.
    Resource {
        /// What is embedded.
        resource: ResourceContents,
    },
}

/// The contents of an embedded resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResourceContents {
    /// A text.
    Text {
        /// Where it came from.
        uri: String,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The text.
        text: String,
    },
    /// Bytes.
    Blob {
        /// Where they came from.
        uri: String,
        /// Their media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The bytes, in base64 (RFC 4648, with padding).
        blob: String,
    },
}

impl Content {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The text, where this piece is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
