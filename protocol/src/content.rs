//! [`Content`]: the content blocks of results and messages.

use serde::{Deserialize, Serialize};

/// One content block. The variants are those of MCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// The bytes of the file, in base64 (RFC 4648, with padding).
        data: String,
        /// The media type, such as `image/png`.
        mime_type: String,
    },
    /// An audio recording.
    Audio {
        /// The bytes of the file, in base64 (RFC 4648, with padding).
        data: String,
        /// The media type, such as `audio/wav`.
        mime_type: String,
    },
    /// A link to a resource that the reader may fetch.
    ResourceLink {
        /// The URI of the resource.
        uri: String,
        /// The name of the resource.
        name: String,
        /// A description of the resource.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The size, in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
    /// An embedded resource.
    Resource {
        /// The contents of the resource.
        resource: ResourceContents,
    },
}

/// The contents of an embedded resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ResourceContents {
    /// A text resource.
    Text {
        /// The URI of the resource.
        uri: String,
        /// The media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The text.
        text: String,
    },
    /// A binary resource.
    Blob {
        /// The URI of the resource.
        uri: String,
        /// The media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The bytes, in base64 (RFC 4648, with padding).
        blob: String,
    },
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Returns the JSON of the block without its data, for a model that cannot be shown the block.
    pub fn describe(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let resource = value.get_mut("resource").map(serde_json::Value::take);
        let mut value = resource.unwrap_or(value);
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|key, _| key != "data" && key != "blob");
        }
        value.to_string()
    }

    /// Returns the text. Returns `None` if the block is not text.
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
