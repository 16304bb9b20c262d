//! [`ToolCall`]: what a model, or anybody else, asks for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Json;

/// A request to run a tool.
///
/// The name is the asker's text and not a [`ToolName`](crate::ToolName): a model may ask for what does not exist, and is
/// then told so.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call; unique within one turn.
    pub id: String,
    /// The name asked for.
    pub name: String,
    /// The arguments asked for, as they came.
    pub arguments: Json,
}

impl ToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Json>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// With the names of the arguments and not their values: some may be secret, and which is known to their tool alone.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.arguments.node().members().map(|(name, _)| name).collect();
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &names)
            .finish_non_exhaustive()
    }
}
