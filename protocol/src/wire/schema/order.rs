//! The order of members in a rendered schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::keyword::{Holds, holds, sort, strings};
use crate::json::canonical::canonical_json;

/// Returns a schema as JSON text: required properties first, in the order of `required`, and all other members sorted.
pub(in crate::wire) fn to_text(schema: &Value) -> String {
    let mut text = String::new();
    write(schema, &mut text);
    text
}

fn write(schema: &Value, text: &mut String) {
    let Value::Object(keywords) = schema else {
        return text.push_str(&canonical_json(schema));
    };
    write_members(sort(keywords), text, |keyword, value, text| {
        match (holds(keyword), value) {
            (Some(Holds::Plain), Value::Array(schemas)) => {
                text.push('[');
                for (index, schema) in schemas.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    write(schema, text);
                }
                text.push(']');
            }
            (Some(Holds::Plain), schema) => write(schema, text),
            (Some(Holds::Named), Value::Object(schemas)) => {
                // OpenAI's strict answers have the keys in the order of the schema, so the author's order of required ones is kept.
                let required = keywords.get("required").filter(|_| keyword == "properties");
                let schemas = required_first(schemas, required);
                write_members(schemas, text, |_, schema, text| write(schema, text));
            }
            _ => text.push_str(&canonical_json(value)),
        }
    });
}

fn write_members<'a>(
    members: impl IntoIterator<Item = (&'a String, &'a Value)>,
    text: &mut String,
    write: impl Fn(&str, &Value, &mut String),
) {
    text.push('{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&Value::from(&**key).to_string());
        text.push(':');
        write(key, value, text);
    }
    text.push('}');
}

/// Returns named schemas in their order.
fn required_first<'a>(
    schemas: &'a Map<String, Value>,
    required: Option<&'a Value>,
) -> Vec<(&'a String, &'a Value)> {
    let positions: BTreeMap<_, _> = strings(required)
        .enumerate()
        .map(|(index, name)| (name, index))
        .collect();
    let mut members: Vec<_> = schemas.iter().collect();
    members.sort_by_key(|(name, _)| {
        (
            positions.get(&***name).copied().unwrap_or(usize::MAX),
            *name,
        )
    });
    members
}
