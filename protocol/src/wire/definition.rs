//! [`WireTool`]: a tool as a service takes it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Format;
use super::schema::{ArgumentsCodec, Change, NotStrict, WireSchema, order};
use crate::{Example, Json, Tool, canonical_json};

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
    /// `Ok` if the definition is strict, and the reason if it is not.
    pub strict: Result<(), NotStrict>,
    format: Format,
    fields: Fields,
}

/// The parts of a definition.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) tool: &'a Tool,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) is_strict: bool,
    /// The arguments of the examples, as on the wire.
    pub(super) examples: &'a [Value],
}

/// The fields of a definition in their order. `None` is the schema of the parameters.
pub(super) type Fields = Vec<(&'static str, Option<Value>)>;

impl Parts<'_> {
    /// Returns the fields that every format has.
    pub(super) fn fields(&self, parameters: &'static str) -> Fields {
        vec![("name", Some(self.name.into())), ("description", Some(self.description.into())), (parameters, None)]
    }
}

impl WireTool {
    pub(super) fn new(
        format: Format,
        tool: &Tool,
        WireSchema { schema: parameters, arguments, changes }: WireSchema,
        strict: Result<(), NotStrict>,
        has_examples: bool,
    ) -> Self {
        let name = format.names().encode(&tool.name).into_owned();
        let encoded = |example: &Example| arguments.encode(&Json::from(example.arguments.clone())).value().clone();
        let examples: Vec<_> = tool.examples.iter().filter(|_| has_examples).map(encoded).collect();
        let description =
            if !format.takes_examples() { described(&tool.description, &examples) } else { tool.description.clone() };
        let parts =
            Parts { tool, name: &name, description: &description, is_strict: strict.is_ok(), examples: &examples };
        let fields = format.fields(parts);
        let text = text_of(&fields, &parameters);
        let definition =
            if format.wraps_functions() { format!(r#"{{"type":"function","function":{text}}}"#) } else { text };
        Self { name, definition: definition.into(), parameters, arguments, changes, strict, format, fields }
    }

    /// Returns the definition as a JSON value.
    pub fn value(&self) -> Value {
        let field = |(name, value): &(&str, Option<Value>)| {
            ((*name).to_owned(), value.as_ref().unwrap_or(&self.parameters).clone())
        };
        let fields: Map<_, _> = self.fields.iter().map(field).collect();
        if self.format.wraps_functions() { json!({"type": "function", "function": fields}) } else { fields.into() }
    }
}

/// Returns a description that ends with examples.
fn described(description: &str, examples: &[Value]) -> String {
    if examples.is_empty() {
        return description.to_owned();
    }
    let lines: Vec<_> = examples.iter().map(canonical_json).collect();
    format!("{description}\n\nExamples of arguments:\n{}", lines.join("\n"))
}

fn text_of(fields: &Fields, parameters: &Value) -> String {
    let field = |(name, value): &(&str, Option<Value>)| {
        format!("{}:{}", Value::from(*name), order::to_text(value.as_ref().unwrap_or(parameters)))
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(","))
}
