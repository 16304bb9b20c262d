//! [`ToolResult`]: the result of a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::content::Content;
use crate::error_code::ErrorCode;
use crate::json::Json;

/// The result of a call: content for the model and, optionally, a structured value for programs.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The content that the model reads.
    pub content: Vec<Content>,
    /// The result as a JSON value, if the tool returns one. `null` is a value; an absent field is `None`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::example::present"
    )]
    pub structured: Option<Json>,
    /// True if the call failed. The content then explains the failure and the next step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The handle of the task as which the call goes on. The content then tells about the task, and the result of the call follows later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<str>>,
}

impl ToolResult {
    /// Creates a result with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::text(text)],
            ..Self::default()
        }
    }

    /// Creates a result with a structured value. The content is its JSON text.
    pub fn structured(value: impl Into<Json>) -> Self {
        let value = value.into();
        Self {
            content: vec![Content::text(value.to_text())],
            structured: Some(value),
            ..Self::default()
        }
    }

    /// Sets the handle of the task as which the call goes on.
    #[must_use]
    pub fn with_task(mut self, handle: impl Into<Box<str>>) -> Self {
        self.task = Some(handle.into());
        self
    }

    /// Creates a failed result whose content is an error message.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// Returns the error code of a failed call, or [`ErrorCode::ToolError`] if the result holds no code. Returns `None` if the call
    /// succeeded.
    pub fn error_code(&self) -> Option<ErrorCode> {
        if !self.is_error {
            return None;
        }
        let structured = self.structured.as_ref();
        let kind = structured.and_then(|value| value.value().pointer("/error/kind"));
        let code = kind.and_then(|kind| ErrorCode::deserialize(kind).ok());
        Some(code.unwrap_or(ErrorCode::ToolError))
    }

    /// Returns the texts of the content, joined with line breaks. Other kinds of content are skipped.
    pub fn to_text(&self) -> String {
        self.content
            .iter()
            .filter_map(Content::as_text)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Shows the structured value in full. Unlike the arguments of a call, it holds no value that a schema marks as secret.
impl fmt::Debug for ToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolResult")
            .field("content", &self.content)
            .field("structured", &self.structured.as_ref().map(Json::value))
            .field("is_error", &self.is_error)
            .field("task", &self.task)
            .finish()
    }
}

impl From<Content> for ToolResult {
    fn from(content: Content) -> Self {
        Self {
            content: vec![content],
            ..Self::default()
        }
    }
}
