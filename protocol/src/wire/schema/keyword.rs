//! The keywords that hold schemas.

use crate::word_list::has_word;
use serde_json::{Map, Value};

/// The form in which a keyword holds schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// One schema, or an array of schemas.
    Plain,
    /// Schemas by name.
    Named,
}

/// The member of a schema in a [`Document`](super::document::Document) with its JSON pointer in the canonical schema.
pub(super) const PLACE: &str = "$place";

/// Keywords without an effect on validity.
pub(super) const ANNOTATIONS: &str = "contentEncoding contentMediaType default deprecated \
    description examples readOnly title writeOnly";

/// Keywords that judge values. All others but `$ref` have no effect on validity.
const ASSERTIONS: &str = "additionalProperties allOf anyOf const dependentRequired enum \
    exclusiveMaximum exclusiveMinimum format items maxItems maxLength maxProperties maximum \
    minItems minLength minProperties minimum multipleOf pattern patternProperties prefixItems \
    properties propertyNames required type uniqueItems";

/// Returns the form in which a keyword holds schemas. Returns `None` if it holds none that a service sees.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
    const PLAIN: &str = "additionalItems additionalProperties allOf anyOf items oneOf prefixItems \
        propertyNames";
    match keyword {
        "$defs" | "definitions" | "patternProperties" | "properties" => Some(Holds::Named),
        _ => has_word(PLAIN, keyword).then_some(Holds::Plain),
    }
}

/// Returns true if a keyword judges values.
pub(super) fn judges(keyword: &str) -> bool {
    has_word(ASSERTIONS, keyword)
}

/// Calls `each` with every schema directly inside of `keywords` and its JSON pointer from there.
pub(in crate::wire) fn for_each<'a>(
    keywords: &'a Map<String, Value>,
    mut each: impl FnMut(String, &'a Value),
) {
    for (keyword, value) in sort(keywords) {
        match (holds(keyword), value) {
            (Some(Holds::Plain), Value::Array(schemas)) => {
                schemas
                    .iter()
                    .enumerate()
                    .for_each(|(index, schema)| each(format!("/{keyword}/{index}"), schema));
            }
            (Some(Holds::Plain), schema) => each(format!("/{keyword}"), schema),
            (Some(Holds::Named), Value::Object(schemas)) => {
                sort(schemas).for_each(|(name, schema)| {
                    each(format!("/{keyword}/{}", escape_key(name)), schema)
                });
            }
            _ => {}
        }
    }
}

/// Replaces every schema directly inside of `keywords`, in the order of [`for_each`]. Passes its JSON pointer from there as well.
pub(super) fn replace_each(
    keywords: &mut Map<String, Value>,
    mut each: impl FnMut(Value, String) -> Value,
) {
    let mut replace =
        |schema: &mut Value, place: String| *schema = each(std::mem::take(schema), place);
    for keyword in sorted_keys(keywords) {
        match (holds(&keyword), keywords.get_mut(&keyword)) {
            (Some(Holds::Plain), Some(Value::Array(schemas))) => {
                schemas
                    .iter_mut()
                    .enumerate()
                    .for_each(|(index, one)| replace(one, format!("/{keyword}/{index}")));
            }
            (Some(Holds::Plain), Some(schema)) => replace(schema, format!("/{keyword}")),
            (Some(Holds::Named), Some(Value::Object(schemas))) => {
                for name in sorted_keys(schemas) {
                    if let Some(schema) = schemas.get_mut(&name) {
                        replace(schema, format!("/{keyword}/{}", escape_key(&name)));
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns the members in the order of their keys, whatever the order of the map.
pub(super) fn sort(members: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    members.into_iter()
}

fn sorted_keys(members: &Map<String, Value>) -> Vec<String> {
    sort(members).map(|(key, _)| key.clone()).collect()
}

/// Returns a key as a segment of a JSON pointer.
pub(super) fn escape_key(key: &str) -> String {
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

/// Returns true if a schema names the type in `type`.
pub(super) fn has_type(keywords: &Map<String, Value>, name: &str) -> bool {
    types(keywords).is_some_and(|types| types.contains(&name))
}

/// Sets the types of a schema: one as a string, several as an array.
pub(super) fn set_types(keywords: &mut Map<String, Value>, types: Vec<&str>) {
    let types = if let [one] = types[..] {
        Value::from(one)
    } else {
        Value::from(types)
    };
    keywords.insert("type".to_owned(), types);
}

/// Returns the strings of an array, such as `required`.
pub(super) fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Returns the members of a keyword's object, such as `properties`.
pub(super) fn members<'a>(
    keywords: &'a Map<String, Value>,
    keyword: &str,
) -> Option<&'a Map<String, Value>> {
    keywords.get(keyword)?.as_object()
}

/// Returns true if the schema accepts any value and says nothing about it.
pub(super) fn is_any(schema: &Value) -> bool {
    schema == &Value::Bool(true)
        || schema
            .as_object()
            .is_some_and(|keywords| keywords.keys().all(|key| key == PLACE))
}
