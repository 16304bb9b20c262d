//! The keywords that hold schemas.

use serde_json::{Map, Value};

/// The form in which a keyword holds schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// One schema.
    One,
    /// An array of schemas.
    Many,
    /// Schemas by name.
    Named,
}

/// The keywords whose schemas apply to the value itself, not to a part of it.
pub(super) const IN_PLACE: [&str; 8] = ["allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"];

/// Keywords without an effect on validity that services need not see, or that lose their meaning in a rewritten schema.
pub(super) const BOOKKEEPING: [&str; 10] = [
    "$anchor", "$comment", "$defs", "$dynamicAnchor", "$id", "$recursiveAnchor", "$schema", "$vocabulary",
    "contentSchema", "definitions",
];

/// Keywords without an effect on validity.
pub(super) const ANNOTATIONS: [&str; 9] = [
    "contentEncoding", "contentMediaType", "default", "deprecated", "description", "examples", "readOnly", "title",
    "writeOnly",
];

/// Returns the form in which a keyword of draft 2020-12 holds schemas. Returns `None` if it holds none.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    Some(match keyword {
        "additionalProperties"
        | "contains"
        | "else"
        | "if"
        | "items"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Many,
        "dependentSchemas" | "patternProperties" | "properties" => Holds::Named,
        _ => return None,
    })
}

/// Calls `each` with every schema directly inside of `keywords` and its JSON pointer from there.
pub(in crate::wire) fn for_each<'a>(keywords: &'a Map<String, Value>, mut each: impl FnMut(String, &'a Value)) {
    for (keyword, value) in sorted(keywords) {
        match (holds(keyword), value) {
            (Some(Holds::One), schema) => each(format!("/{keyword}"), schema),
            (Some(Holds::Many), Value::Array(schemas)) => {
                schemas.iter().enumerate().for_each(|(index, schema)| each(format!("/{keyword}/{index}"), schema));
            }
            (Some(Holds::Named), Value::Object(schemas)) => {
                sorted(schemas).for_each(|(name, schema)| each(format!("/{keyword}/{}", escaped(name)), schema));
            }
            _ => {}
        }
    }
}

/// Returns the members in the order of their keys, whatever the order of the map.
pub(super) fn sorted(members: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    members.into_iter()
}

/// Returns a key as a segment of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the types that a schema names in `type`, or `None` if it names none.
pub(super) fn types(keywords: &Map<String, Value>) -> Option<Vec<&str>> {
    match keywords.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

/// Returns the strings of an array, such as `required`.
pub(super) fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the members of a keyword's object, such as `properties`.
pub(super) fn members<'a>(keywords: &'a Map<String, Value>, keyword: &str) -> Option<&'a Map<String, Value>> {
    keywords.get(keyword)?.as_object()
}
