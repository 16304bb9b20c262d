//! [`WireTool`]: a tool as a service takes it.

use std::sync::Arc;

use serde_json::Value;

use super::Format;
use super::schema::{ArgumentsCodec, Change, NotStrict, WireSchema, order};
use crate::json::Json;
use crate::json::canonical::canonical_json;
use crate::tool::Tool;

/// A tool as a service takes it.
#[derive(Clone, Debug)]
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

/// The fields of an object in their order.
pub(super) type Fields = Vec<(&'static str, Field)>;

/// The value of a field of a definition.
#[derive(Clone, Debug)]
pub(super) enum Field {
    Value(Value),
    /// The schema of the parameters.
    Parameters,
    Object(Fields),
}

impl<T: Into<Value>> From<T> for Field {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl Parts<'_> {
    /// Returns the fields that every format has.
    pub(super) fn fields(&self, parameters: &'static str) -> Fields {
        vec![
            ("name", self.name.into()),
            ("description", self.description.into()),
            (parameters, Field::Parameters),
        ]
    }
}

impl WireTool {
    pub(super) fn new(
        format: Format,
        tool: &Tool,
        wire: WireSchema,
        strict: Result<(), NotStrict>,
        has_examples: bool,
    ) -> Self {
        let name = format.names().encode(&tool.name).into_owned();
        let examples: Vec<_> = tool
            .examples
            .iter()
            .filter(|_| has_examples)
            .map(|example| {
                let given = Json::from(example.arguments.clone());
                wire.arguments.encode(&given).value().clone()
            })
            .collect();
        let mut description = tool.description.clone();
        if !format.takes_examples() && !examples.is_empty() {
            let lines: Vec<_> = examples.iter().map(canonical_json).collect();
            description += &format!("\n\nExamples of arguments:\n{}", lines.join("\n"));
        }
        let parts = Parts {
            tool,
            name: &name,
            description: &description,
            is_strict: strict.is_ok(),
            examples: &examples,
        };
        let fields = format.fields(parts);
        let definition = text_of(&fields, &wire.schema).into();
        Self {
            name,
            definition,
            parameters: wire.schema,
            arguments: wire.arguments,
            changes: wire.changes,
            strict,
            fields,
        }
    }

    /// Returns the definition as a JSON value.
    pub fn value(&self) -> Value {
        value_of(&self.fields, &self.parameters)
    }
}

fn text_of(fields: &Fields, parameters: &Value) -> String {
    let fields = fields.iter().map(|(name, field)| {
        let text = match field {
            // The order of a `Map` hangs on a feature of `serde_json`, and prompt caches need equal bytes.
            Field::Value(value) => order::to_text(value),
            Field::Parameters => order::to_text(parameters),
            Field::Object(fields) => text_of(fields, parameters),
        };
        format!("{}:{text}", Value::from(*name))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn value_of(fields: &Fields, parameters: &Value) -> Value {
    let value = |field: &Field| match field {
        Field::Value(value) => value.clone(),
        Field::Parameters => parameters.clone(),
        Field::Object(fields) => value_of(fields, parameters),
    };
    fields
        .iter()
        .map(|(name, field)| ((*name).to_owned(), value(field)))
        .collect()
}
