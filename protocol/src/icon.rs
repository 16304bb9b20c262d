//! [`Icon`]: a picture of a tool.

use serde::{Deserialize, Serialize};

/// A picture that a user interface may show beside a tool, as MCP's `Icon` (revision 2025-11-25). Toolcrib never loads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// The address of the picture: an `https` or a `data` URI.
    pub src: String,
    /// The media type of the picture, if it differs from the one that its server tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes in which it can be shown, each as width and height in pixels such as `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The background that it is made for: `light` or `dark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}
