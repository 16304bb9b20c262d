//! [`ToolResult`]: the answer to a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Content, ErrorCode, Json};

/// What a call gave: content for the model to read, and a structured value for programs where there is one.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// What the model reads.
    pub content: Vec<Content>,
    /// The same as a value, where the tool has one. `null` is a value; an absent field is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::present::present")]
    pub structured: Option<Json>,
    /// Whether the call failed; the content then says how, and what to do next.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// A result of one value: the structured part is the value, the content its JSON text.
    pub fn structured(value: impl Into<Json>) -> Self {
        let value = value.into();
        Self { content: vec![Content::text(value.to_text())], structured: Some(value), is_error: false }
    }

    /// A failure, told in text.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Returns why the call failed, `None` if it succeeded. An error that a tool returned as its result, without a code, is
    /// [`ErrorCode::ToolError`].
    pub fn error_code(&self) -> Option<ErrorCode> {
        let told = || ErrorCode::deserialize(self.structured.as_ref()?.value().pointer("/error/kind")?).ok();
        self.is_error.then(|| told().unwrap_or(ErrorCode::ToolError))
    }

    /// Its texts, joined with line breaks; other kinds of content are passed over.
    pub fn to_text(&self) -> String {
        self.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
    }
}

/// With the structured value: unlike the arguments of a call, it holds nothing that a schema calls secret.
impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("content", &self.content)
            .field("structured", &self.structured.as_ref().map(Json::value))
            .field("is_error", &self.is_error)
            .finish()
    }
}

impl From<Content> for ToolResult {
    fn from(content: Content) -> Self {
        Self { content: vec![content], ..Self::default() }
    }
}
