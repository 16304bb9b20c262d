//! [`ToolCall`]: what a model, or anybody else, asks for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to run a tool.
///
/// The name is the asker's text and not a [`ToolName`](crate::ToolName): a model may ask for what does not exist, and is
/// then told so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call; unique within one turn.
    pub id: String,
    /// The name asked for.
    pub name: String,
    /// The arguments asked for, as they came.
    pub arguments: Value,
}

impl ToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments }
    }
}
