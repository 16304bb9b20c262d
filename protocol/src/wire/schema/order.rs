//! The order of members in a rendered schema.

use serde_json::{Map, Value};

use super::keyword::{Holds, holds, strings};
use crate::canonical_json;

/// Returns a schema as JSON text: required properties first, in the order of `required`, and all other members sorted.
pub(in crate::wire) fn to_text(schema: &Value) -> String {
    let mut text = String::new();
    write(schema, &mut text);
    text
}

/// Returns a schema with its members in the order of [`to_text`], if `serde_json` keeps an order.
pub(in crate::wire) fn ordered(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let mut result = Map::new();
    for (keyword, value) in super::keyword::sorted(keywords) {
        let value = match (form(keyword), value) {
            (Some(Holds::One), schema) => ordered(schema),
            (Some(Holds::Many), Value::Array(schemas)) => schemas.iter().map(ordered).collect(),
            (Some(Holds::Named), Value::Object(schemas)) => {
                let members = names(keywords, keyword, schemas).map(|(name, schema)| (name.clone(), ordered(schema)));
                Value::Object(members.collect())
            }
            _ => {
                let mut value = value.clone();
                value.sort_all_objects();
                value
            }
        };
        result.insert(keyword.clone(), value);
    }
    Value::Object(result)
}

fn write(schema: &Value, text: &mut String) {
    let Value::Object(keywords) = schema else { return text.push_str(&canonical_json(schema)) };
    text.push('{');
    for (index, (keyword, value)) in super::keyword::sorted(keywords).enumerate() {
        key(text, index, keyword);
        match (form(keyword), value) {
            (Some(Holds::One), schema) => write(schema, text),
            (Some(Holds::Many), Value::Array(schemas)) => {
                text.push('[');
                for (index, schema) in schemas.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    write(schema, text);
                }
                text.push(']');
            }
            (Some(Holds::Named), Value::Object(schemas)) => {
                text.push('{');
                for (index, (name, schema)) in names(keywords, keyword, schemas).enumerate() {
                    key(text, index, name);
                    write(schema, text);
                }
                text.push('}');
            }
            _ => text.push_str(&canonical_json(value)),
        }
    }
    text.push('}');
}

fn key(text: &mut String, index: usize, key: &str) {
    if index > 0 {
        text.push(',');
    }
    text.push_str(&Value::from(key).to_string());
    text.push(':');
}

fn form(keyword: &str) -> Option<Holds> {
    match keyword {
        "$defs" | "definitions" => Some(Holds::Named),
        keyword => holds(keyword),
    }
}

/// Returns named schemas in their order.
fn names<'a>(
    keywords: &'a Map<String, Value>,
    keyword: &str,
    schemas: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let required: Vec<_> =
        if keyword == "properties" { strings(keywords.get("required")).collect() } else { Vec::new() };
    let mut members: Vec<_> = schemas.iter().collect();
    members.sort_by_key(|(name, _)| (required.iter().position(|other| other == name).unwrap_or(usize::MAX), *name));
    members.into_iter()
}
