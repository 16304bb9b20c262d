//! The rules of the parameter schema.

use protocol::canonical_json;
use serde_json::Value;

use super::fault::{Fault, LintRule};
use super::wording::is_sentence;
use crate::entry::Entry;

/// The maximum length of a parameter schema as canonical JSON, in bytes.
const MAX_BYTES: usize = 4_096;

pub(super) fn check(entry: &Entry, faults: &mut Vec<Fault>) {
    let schema = &entry.tool().parameters;
    let mut broken = |rule, message: String| faults.push(Fault::warning(entry, rule, message));
    if schema["additionalProperties"] != false {
        let message = "the schema accepts unknown arguments; set \"additionalProperties\": false";
        broken(LintRule::Schema, message.to_owned());
    }
    let length = canonical_json(schema).len();
    if length > MAX_BYTES {
        let message =
            format!("the parameter schema has {length} bytes; shorten it to at most {MAX_BYTES}");
        broken(LintRule::Schema, message);
    }
    for (name, parameter) in schema["properties"].as_object().into_iter().flatten() {
        if !parameter["description"].as_str().is_some_and(is_sentence) {
            let message = format!(
                "`{name}` is not described in sentences; begin in upper case and end with a full stop"
            );
            broken(LintRule::Parameter, message);
        }
    }
    let mut undescribed = Vec::new();
    collect_undescribed(schema, true, &mut undescribed);
    for name in undescribed {
        broken(
            LintRule::Parameter,
            format!("the nested field `{name}` has no description; write a doc comment on it"),
        );
    }
}

/// Appends the names of nested fields without a description. A tag with one value, and a reference to a described type, need none.
fn collect_undescribed<'a>(schema: &'a Value, is_root: bool, names: &mut Vec<&'a str>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (keyword.as_str(), value) {
            // Their values are data, in which a key `properties` means nothing.
            ("const" | "default" | "enum" | "examples", _) => {}
            ("properties", Value::Object(fields)) => {
                for (name, field) in fields {
                    let is_described = ["description", "const", "$ref"]
                        .iter()
                        .any(|key| field.get(key).is_some());
                    if !is_root && !is_described {
                        names.push(name);
                    }
                    collect_undescribed(field, false, names);
                }
            }
            ("$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                schemas
                    .values()
                    .for_each(|schema| collect_undescribed(schema, false, names));
            }
            (_, Value::Array(schemas)) => {
                schemas
                    .iter()
                    .for_each(|schema| collect_undescribed(schema, false, names));
            }
            (_, Value::Object(_)) => collect_undescribed(value, false, names),
            _ => {}
        }
    }
}
