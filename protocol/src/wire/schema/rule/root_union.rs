//! Merges alternatives at the root into one list of properties.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::wire::schema::keyword::{holds, is_any, members, strings};
use crate::wire::schema::merge::{is_closed, text};

/// Alternatives as one schema.
pub(in crate::wire::schema) struct RootUnion {
    pub(in crate::wire::schema) keywords: Map<String, Value>,
    /// The properties that some alternatives neither name nor refuse, but are taken to refuse. No other schema at the root may name
    /// them: it would name them for those alternatives as well.
    pub(in crate::wire::schema) assumed: Vec<String>,
}

/// Returns keywords for the objects that match one of the schemas. In strict mode, an object without a word on other properties is
/// taken to refuse those that neither it nor `base` names.
pub(in crate::wire::schema) fn root_union(
    objects: &[Map<String, Value>],
    base: &Map<String, Value>,
    is_strict: bool,
) -> RootUnion {
    let is_open = |object: &&Map<String, Value>| !is_closed(object);
    let mut alternatives: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
    for object in objects {
        let keys = members(object, "properties")
            .into_iter()
            .flat_map(Map::keys);
        keys.for_each(|key| alternatives.entry(key).or_default().push(object));
    }
    let open = objects.iter().filter(is_open).count();
    let open_in_words = objects.iter().filter(says_open).count();
    let required = objects.iter().filter(is_open).flat_map(|object| {
        let properties = members(object, "properties");
        strings(object.get("required"))
            .filter(move |key| properties.is_none_or(|properties| !properties.contains_key(*key)))
    });
    let required_unlisted: BTreeSet<_> = required.collect();
    let mut assumed = Vec::new();
    let property = |(key, naming): (&str, Vec<&Map<String, Value>>)| {
        let schemas: Vec<_> = naming
            .iter()
            .filter_map(|object| members(object, "properties")?.get(key))
            .collect();
        // An open object without the key gives it any value. The model still sees its usual values.
        let or_any = naming.iter().copied().filter(is_open).count() < open;
        let or_any_in_words = naming.iter().copied().filter(says_open).count() < open_in_words
            || required_unlisted.contains(key);
        let is_in_base =
            members(base, "properties").is_some_and(|properties| properties.contains_key(key));
        let schema = match (is_strict, is_in_base) {
            // The schema in the base judges it.
            (true, true) if or_any && schemas.iter().all(|schema| is_flat(schema)) => json!({}),
            (true, false) => {
                if or_any && !or_any_in_words {
                    assumed.push(key.to_owned());
                }
                any_of(&schemas, or_any_in_words)
            }
            _ => any_of(&schemas, or_any),
        };
        (key.to_owned(), schema)
    };
    let properties: Map<_, _> = alternatives.into_iter().map(property).collect();
    let mut union = Map::from_iter([("properties".to_owned(), properties.into())]);
    if open == 0 && !objects.is_empty() {
        // With one open alternative, any further property matches.
        union.insert("additionalProperties".to_owned(), false.into());
    }
    let required = common(objects);
    if !required.is_empty() {
        union.insert("required".to_owned(), required.into());
    }
    RootUnion {
        keywords: union,
        assumed,
    }
}

/// Returns true if an object takes other properties, and says so.
fn says_open(object: &&Map<String, Value>) -> bool {
    !is_closed(object)
        && ["additionalProperties", "patternProperties"]
            .iter()
            .any(|it| object.contains_key(*it))
}

/// Returns true if a schema names no properties or items of values.
fn is_flat(schema: &Value) -> bool {
    schema.as_object().is_none_or(|keywords| {
        keywords
            .keys()
            .all(|key| key != "$ref" && holds(key).is_none())
    })
}

/// Returns the properties that all objects require, in the order of the first.
fn common(objects: &[Map<String, Value>]) -> Vec<&str> {
    let Some((first, others)) = objects.split_first() else {
        return Vec::new();
    };
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
    let mut distinct: Vec<_> = schemas
        .iter()
        .filter(|schema| seen.insert(text(schema)))
        .map(|one| (*one).clone())
        .collect();
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
    if let [_] = distinct[..] {
        distinct.remove(0)
    } else {
        json!({"anyOf": distinct})
    }
}

/// Returns the strings that a schema lists. Returns `None` if it accepts other values or judges them otherwise.
fn strings_of(schema: &Value) -> Option<Vec<&str>> {
    let keywords = schema.as_object()?;
    let is_plain = keywords.keys().all(|key| {
        matches!(
            &**key,
            "$place" | "const" | "enum" | "type" | "description" | "title"
        )
    });
    let is_string = keywords.get("type").is_none_or(|kind| kind == "string");
    match (keywords.get("const"), keywords.get("enum")) {
        (Some(value), None) if is_plain && is_string => Some(vec![value.as_str()?]),
        (None, Some(Value::Array(values))) if is_plain && is_string => {
            values.iter().map(Value::as_str).collect()
        }
        _ => None,
    }
}
