//! Alternatives at the root become one list of properties.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::wire::schema::keyword::{is_any, members, strings};
use crate::wire::schema::merge::{is_closed, text};

/// Returns keywords for the objects that match one of the schemas. In strict mode, objects are closed unless they say otherwise.
pub(in crate::wire::schema) fn root_union(objects: &[Map<String, Value>], is_strict: bool) -> Map<String, Value> {
    let is_closed = |object: &Map<String, Value>| {
        is_closed(object)
            || (is_strict && ["additionalProperties", "patternProperties"].iter().all(|it| !object.contains_key(*it)))
    };
    let mut alternatives: BTreeMap<&str, (Vec<&Value>, usize)> = BTreeMap::new();
    for object in objects {
        for (key, schema) in members(object, "properties").into_iter().flatten() {
            let (schemas, open) = alternatives.entry(key).or_default();
            schemas.push(schema);
            *open += usize::from(!is_closed(object));
        }
    }
    let open = objects.iter().filter(|object| !is_closed(object)).count();
    let property = |(key, (schemas, open_with_key)): (&str, (Vec<&Value>, usize))| {
        // An open object without the key gives it any value. The model still sees its usual values.
        (key.to_owned(), any_of(&schemas, open_with_key < open))
    };
    let properties: Map<_, _> = alternatives.into_iter().map(property).collect();
    let mut union = Map::from_iter([("properties".to_owned(), properties.into())]);
    if open == 0 && !objects.is_empty() {
        union.insert("additionalProperties".to_owned(), false.into());
    }
    let required = common(objects);
    if !required.is_empty() {
        union.insert("required".to_owned(), required.into());
    }
    union
}

/// Returns the properties that all objects require, in the order of the first.
fn common(objects: &[Map<String, Value>]) -> Vec<&str> {
    let Some((first, others)) = objects.split_first() else { return Vec::new() };
    let mut names: Vec<_> = strings(first.get("required")).collect();
    for object in others {
        let required: BTreeSet<_> = strings(object.get("required")).collect();
        names.retain(|name| required.contains(name));
    }
    names
}

/// Returns a schema for the values that match one of the schemas. Lists of strings become one list.
fn any_of(schemas: &[&Value], or_any: bool) -> Value {
    let mut seen = BTreeSet::new();
    let mut distinct: Vec<_> =
        schemas.iter().filter(|schema| seen.insert(text(schema))).map(|one| (*one).clone()).collect();
    if distinct.iter().all(is_any) {
        return json!({});
    }
    if or_any {
        distinct.push(json!({}));
    } else if let Some(lists) = distinct.iter().map(strings_of).collect::<Option<Vec<_>>>()
        && distinct.len() > 1
    {
        let values: BTreeSet<_> = lists.into_iter().flatten().collect();
        return json!({"type": "string", "enum": values});
    }
    if let [_] = distinct[..] { distinct.remove(0) } else { json!({"anyOf": distinct}) }
}

/// Returns the strings that a schema lists. Returns `None` if it accepts other values or judges them otherwise.
fn strings_of(schema: &Value) -> Option<Vec<&str>> {
    let keywords = schema.as_object()?;
    let is_plain =
        keywords.keys().all(|key| matches!(&**key, "$place" | "const" | "enum" | "type" | "description" | "title"));
    let is_string = keywords.get("type").is_none_or(|kind| kind == "string");
    match (keywords.get("const"), keywords.get("enum")) {
        (Some(value), None) if is_plain && is_string => Some(vec![value.as_str()?]),
        (None, Some(Value::Array(values))) if is_plain && is_string => values.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
