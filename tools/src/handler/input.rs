//! Arguments as a type of the handler's own.

use serde::de::DeserializeOwned;

use super::output::tool_text;
use crate::{Entry, Input, ToolError, Violation};

/// Arguments as a type. They have passed the schema, so a refusal means that the type is narrower than its schema says; the
/// model is told all the same.
pub(crate) fn deserialized<A: DeserializeOwned>(entry: Option<&Entry>, mut arguments: Input) -> Result<A, ToolError> {
    // A handler that wraps this one may have put others in the place of those that the counter read.
    if let Some(entry) = entry {
        arguments.set_tool(entry);
    }
    arguments.deserialize().map_err(|error| {
        let violation = Violation {
            pointer: String::new(),
            expected: "arguments as the description says".to_owned(),
            found: error.to_string(),
            near: Vec::new(),
        };
        ToolError::InvalidArguments { tool: tool_text(entry), violations: vec![violation] }
    })
}
