//! The conjunction of two schemas as one.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::keyword::{ANNOTATIONS, members, strings};
use crate::canonical_json;

/// Adds the keywords of `other` to `into`, so that a value must match both. Returns the keywords that one schema cannot hold for
/// both. They are as in `into`, or gone.
pub(super) fn merge(into: &mut Map<String, Value>, mut other: Map<String, Value>) -> Vec<String> {
    let mut lost = Vec::new();
    lost.extend(merge_objects(into, &mut other));
    merge_arrays(into, &mut other);
    for group in [["if", "then", "else"], ["contains", "minContains", "maxContains"]] {
        let parts = group.map(|keyword| other.remove(keyword));
        let has = |keywords: &Map<String, Value>| group.map(|keyword| keywords.get(keyword).cloned());
        if parts[0].is_none() || has(into) == parts {
            continue;
        }
        if into.contains_key(group[0]) {
            lost.push(group[0].to_owned());
        } else {
            into.extend(group.into_iter().zip(parts).filter_map(|(keyword, part)| Some((keyword.to_owned(), part?))));
        }
    }
    for (keyword, value) in other {
        let Some(own) = into.get_mut(&keyword) else {
            into.insert(keyword, value);
            continue;
        };
        if *own != value && !merge_keyword(&keyword, own, &value) {
            lost.push(keyword);
        }
    }
    lost
}

/// Returns a schema for the values that match both.
pub(super) fn both(one: &Value, other: &Value) -> Value {
    match (one, other) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (any, schema) | (schema, any) if is_any(any) => schema.clone(),
        (one, other) if one == other => one.clone(),
        (one, other) => json!({"allOf": [one, other]}),
    }
}

/// Returns true if the schema accepts any value and says nothing about it.
pub(super) fn is_any(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

/// Returns true if two JSON values are equal for JSON Schema, where 1 and 1.0 are.
pub(super) fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || canonical_json(one) == canonical_json(other)
}

fn merge_keyword(keyword: &str, own: &mut Value, value: &Value) -> bool {
    match keyword {
        "type" => {
            let Some(common) = common_types(own, value) else { return false };
            *own = common;
        }
        "enum" => {
            let (Value::Array(values), Value::Array(others)) = (&mut *own, value) else { return false };
            let common: Vec<_> =
                values.iter().filter(|one| others.iter().any(|other| is_equal(one, other))).cloned().collect();
            if common.is_empty() {
                return false;
            }
            *values = common;
        }
        "required" => {
            let names: Vec<_> = strings(Some(value)).map(str::to_owned).collect();
            let Value::Array(own) = own else { return false };
            for name in names {
                if !own.contains(&Value::from(&*name)) {
                    own.push(name.into());
                }
            }
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            return keep_bound(own, value, Ordering::Less);
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            return keep_bound(own, value, Ordering::Greater);
        }
        "uniqueItems" => *own = Value::Bool(own == &Value::Bool(true) || value == &Value::Bool(true)),
        "not" => *own = json!({"anyOf": [own, value]}),
        "propertyNames" => *own = both(own, value),
        "allOf" => {
            let (Value::Array(own), Value::Array(value)) = (own, value) else { return false };
            own.extend(value.iter().cloned());
        }
        "dependentSchemas" => {
            let (Value::Object(own), Value::Object(value)) = (own, value) else { return false };
            for (key, schema) in value {
                let joint = both(own.get(key).unwrap_or(&Value::Bool(true)), schema);
                own.insert(key.clone(), joint);
            }
        }
        "dependentRequired" => {
            let (Value::Object(own), Value::Object(value)) = (own, value) else { return false };
            for (key, names) in value {
                match own.get_mut(key) {
                    Some(own) => drop(merge_keyword("required", own, names)),
                    None => drop(own.insert(key.clone(), names.clone())),
                }
            }
        }
        keyword => return ANNOTATIONS.contains(&keyword),
    }
    true
}

/// Keeps the narrower of two bounds: replaces `own` if it compares to `value` as `wider`.
fn keep_bound(own: &mut Value, value: &Value, wider: Ordering) -> bool {
    let (Some(one), Some(other)) = (own.as_f64(), value.as_f64()) else { return false };
    if one.partial_cmp(&other) == Some(wider) {
        *own = value.clone();
    }
    true
}

fn common_types(one: &Value, other: &Value) -> Option<Value> {
    let names = |value: &Value| match value {
        Value::String(name) => vec![name.clone()],
        list => strings(Some(list)).map(str::to_owned).collect(),
    };
    let (ones, others) = (names(one), names(other));
    let has = |list: &[String], name: &str| {
        list.iter().any(|other| other == name || (name == "integer" && other == "number"))
    };
    let mut common: Vec<_> = ones.iter().filter(|name| has(&others, name)).cloned().collect();
    let narrower = others.iter().filter(|name| has(&ones, name) && !ones.contains(name)).cloned();
    common.extend(narrower);
    common.dedup();
    match common.len() {
        0 => None,
        1 => common.pop().map(Value::from),
        _ => Some(common.into()),
    }
}

/// Merges the keywords about properties. `additionalProperties` is lost if one schema has patterns, because then it depends on them.
fn merge_objects(into: &mut Map<String, Value>, other: &mut Map<String, Value>) -> Option<String> {
    const ABOUT: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];
    if [&*into, &*other].iter().any(|keywords| !ABOUT.iter().any(|keyword| keywords.contains_key(*keyword))) {
        return None; // One schema is silent, so the keywords of the other one just move.
    }
    let any = Value::Bool(true);
    let mut lost = None;
    let has = |keywords: &Map<String, Value>, keyword: &str| keywords.get(keyword).is_some_and(|value| value != &any);
    let has_patterns = has(into, "patternProperties") || has(other, "patternProperties");
    if has_patterns && (has(into, "additionalProperties") || has(other, "additionalProperties")) {
        into.remove("additionalProperties");
        other.remove("additionalProperties");
        lost = Some("additionalProperties".to_owned());
    }
    let rests = [&*into, &*other].map(|keywords| keywords.get("additionalProperties").unwrap_or(&any).clone());
    let rest = both(&rests[0], &rests[1]);
    for keyword in ["properties", "patternProperties"] {
        let [own, theirs] = [&*into, &*other].map(|keywords| members(keywords, keyword).cloned());
        if own.is_none() && theirs.is_none() {
            continue;
        }
        let [own, theirs] = [own, theirs].map(Option::unwrap_or_default);
        let mut joint = Map::new();
        for key in own.keys().chain(theirs.keys().filter(|key| !own.contains_key(*key))) {
            let schema = both(own.get(key).unwrap_or(&rests[0]), theirs.get(key).unwrap_or(&rests[1]));
            // A closed schema refuses the key without an entry.
            if schema != Value::Bool(false) || rest != Value::Bool(false) {
                joint.insert(key.clone(), schema);
            }
        }
        into.insert(keyword.to_owned(), Value::Object(joint));
        other.remove(keyword);
    }
    other.remove("additionalProperties");
    match rest {
        Value::Bool(true) => drop(into.remove("additionalProperties")),
        rest => drop(into.insert("additionalProperties".to_owned(), rest)),
    }
    lost
}

/// Merges the keywords about items, position by position.
fn merge_arrays(into: &mut Map<String, Value>, other: &mut Map<String, Value>) {
    let any = Value::Bool(true);
    let rests = [&*into, &*other].map(|keywords| keywords.get("items").unwrap_or(&any).clone());
    let [own, theirs] = [into.remove("prefixItems"), other.remove("prefixItems")].map(|items| match items {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    });
    let count = own.len().max(theirs.len());
    if count > 0 {
        let at = |index| both(own.get(index).unwrap_or(&rests[0]), theirs.get(index).unwrap_or(&rests[1]));
        into.insert("prefixItems".to_owned(), (0..count).map(at).collect());
    }
    other.remove("items");
    match both(&rests[0], &rests[1]) {
        Value::Bool(true) => drop(into.remove("items")),
        rest => drop(into.insert("items".to_owned(), rest)),
    }
}
