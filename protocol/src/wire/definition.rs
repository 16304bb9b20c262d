//! [`WireTool`]: a tool as a service takes it.

use std::sync::Arc;

use serde_json::Value;

use super::format::Spec;
use super::schema::{ArgumentsCodec, Change, NotStrict, WireSchema, order};
use crate::Tool;

/// A tool as a service takes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WireTool {
    /// The name on the wire.
    pub name: String,
    /// One element of the service's list of tools, as JSON text. Equal tools give equal bytes.
    pub definition: Arc<str>,
    /// The schema of the parameters in it, for clients that take JSON values.
    pub parameters: Value,
    /// The codec of the arguments of its calls.
    pub arguments: ArgumentsCodec,
    /// The differences between the tool's schema and the one on the wire.
    pub changes: Vec<Change>,
    /// True if the definition is strict.
    pub is_strict: bool,
    /// The reason that the definition is not strict. `None` if it is, or if no strict one was requested.
    pub not_strict: Option<NotStrict>,
}

/// The parts of a definition as JSON texts.
pub(super) struct Definition<'a> {
    pub(super) tool: &'a Tool,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: String,
    pub(super) is_strict: bool,
}

impl WireTool {
    pub(super) fn new(
        spec: &Spec,
        tool: &Tool,
        schema: WireSchema,
        not_strict: Option<NotStrict>,
        is_strict: bool,
    ) -> Self {
        let name = spec.names.encode(&tool.name).into_owned();
        let definition = Definition {
            tool,
            name: json(&name),
            description: json(&tool.description),
            parameters: order::to_text(&schema.schema),
            is_strict,
        };
        let definition = (spec.definition)(&definition).into();
        let WireSchema { schema: parameters, arguments, changes, .. } = schema;
        Self { name, definition, parameters, arguments, changes, is_strict, not_strict }
    }

    /// Returns the definition as a JSON value.
    pub fn value(&self) -> Value {
        // The definition is made of JSON texts.
        serde_json::from_str(&self.definition).unwrap_or_default()
    }
}

/// Returns a text as a JSON string.
pub(super) fn json(text: &str) -> String {
    Value::from(text).to_string()
}
