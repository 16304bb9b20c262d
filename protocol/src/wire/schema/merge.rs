//! The conjunction of two schemas as one.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::keyword::{ANNOTATIONS, PLACE, is_any, members, replace_each, strings};
use crate::json::canonical::canonical_json;
use crate::word_list::has_word;

/// Adds the keywords of `other` to `into`, so that a value that matches both matches the result. Returns the keywords that one schema
/// cannot hold for both. Of those, the result has the ones of `into` or neither.
pub(super) fn merge(into: &mut Map<String, Value>, mut other: Map<String, Value>) -> Vec<String> {
    let mut dropped = Vec::new();
    // `items` judges what `prefixItems` beside it leaves over, so the two schemas cannot be mixed.
    if [&*into, &other]
        .iter()
        .all(|it| it.contains_key("items") || it.contains_key("prefixItems"))
    {
        other.retain(|keyword, _| keyword != "items" && keyword != "prefixItems");
        dropped.push("items".to_owned());
    }
    dropped.extend(merge_properties(into, &mut other));
    for (keyword, value) in other {
        match into.get_mut(&keyword) {
            None => drop(into.insert(keyword, value)),
            Some(own) if *own == value => {}
            Some(own) => {
                if !narrow(&keyword, own, &value) && !has_word(ANNOTATIONS, &keyword) {
                    dropped.push(keyword);
                }
            }
        }
    }
    dropped
}

/// Returns a schema for the values that match both.
fn both(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (any, schema) | (schema, any) if is_any(&any) => schema,
        (Value::Object(mut one), other)
            if one.keys().all(|key| matches!(&**key, PLACE | "allOf")) =>
        {
            if let Some(Value::Array(parts)) = one.get_mut("allOf") {
                parts.push(other);
            }
            one.into()
        }
        (one, other) if text(&one) == text(&other) => one,
        (one, other) => {
            let place = one.get(PLACE).cloned().unwrap_or_default();
            json!({"allOf": [one, other], PLACE: place})
        }
    }
}

/// Returns the JSON text of a schema without its places.
pub(super) fn text(schema: &Value) -> String {
    canonical_json(&without_places(schema.clone()))
}

fn without_places(mut schema: Value) -> Value {
    if let Value::Object(keywords) = &mut schema {
        keywords.remove(PLACE);
        replace_each(keywords, |schema, _| without_places(schema));
    }
    schema
}

/// Narrows the value of one keyword. Returns false if it has no value for both.
fn narrow(keyword: &str, own: &mut Value, value: &Value) -> bool {
    match keyword {
        "type" => {
            let Some(common) = common_types(own, value) else {
                return false;
            };
            *own = common;
        }
        "enum" => {
            let (Value::Array(values), Value::Array(others)) = (&mut *own, value) else {
                return false;
            };
            let others: BTreeSet<_> = others.iter().map(canonical_json).collect();
            // In JSON Schema, 1 and 1.0 are equal.
            let common: Vec<_> = values
                .iter()
                .filter(|one| others.contains(&canonical_json(*one)))
                .cloned()
                .collect();
            // No service takes an empty `enum`.
            if common.is_empty() {
                return false;
            }
            *values = common;
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            return keep_bound(own, value, Ordering::Less);
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            return keep_bound(own, value, Ordering::Greater);
        }
        "uniqueItems" => {
            *own = Value::Bool(own == &Value::Bool(true) || value == &Value::Bool(true))
        }
        "allOf" | "required" => {
            let (Value::Array(own), Value::Array(value)) = (own, value) else {
                return false;
            };
            own.extend(value.iter().cloned());
        }
        _ => return false,
    }
    true
}

/// Keeps the narrower of two bounds: replaces `own` if it compares to `value` as `wider`.
fn keep_bound(own: &mut Value, value: &Value, wider: Ordering) -> bool {
    let (Some(one), Some(other)) = (own.as_f64(), value.as_f64()) else {
        return false;
    };
    if one.partial_cmp(&other) == Some(wider) {
        *own = value.clone();
    }
    true
}

fn common_types(one: &Value, other: &Value) -> Option<Value> {
    let [ones, others]: [Vec<&str>; 2] = [one, other].map(|value| match value {
        Value::String(name) => vec![&**name],
        list => strings(Some(list)).collect(),
    });
    let mut common = ones.clone();
    common.retain(|name| accepts_type(&others, name));
    let mut narrower = others;
    narrower.retain(|name| accepts_type(&ones, name) && !ones.contains(name));
    common.extend(narrower);
    match common[..] {
        [] => None,
        [only] => Some(only.into()),
        _ => Some(common.into()),
    }
}

/// Returns true if one of the types has all values of this one.
fn accepts_type(types: &[&str], name: &str) -> bool {
    types.contains(&name) || name == "integer" && types.contains(&"number")
}

/// Merges the keywords about properties. `additionalProperties` judges the properties that neither schema names. Returns it if
/// it judged others as well.
fn merge_properties(
    into: &mut Map<String, Value>,
    other: &mut Map<String, Value>,
) -> Option<String> {
    const ABOUT: [&str; 3] = ["properties", "patternProperties", "additionalProperties"];
    if [&*into, &*other]
        .iter()
        .any(|keywords| !ABOUT.iter().any(|keyword| keywords.contains_key(*keyword)))
    {
        return None; // The keywords of one schema are those of both.
    }
    let closed = [is_closed(into), is_closed(other)];
    let [mut own, mut theirs] =
        [&mut *into, &mut *other].map(|keywords| match keywords.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        });
    // A closed schema refuses the keys that it does not name.
    if closed[0] {
        theirs.retain(|key, _| own.contains_key(key));
    }
    if closed[1] {
        own.retain(|key, _| theirs.contains_key(key));
    }
    add_each(&mut own, theirs);
    into.insert("properties".to_owned(), Value::Object(own));
    let rests = [&*into, &*other].map(|keywords| {
        keywords
            .get("additionalProperties")
            .filter(|rest| !is_any(rest))
            .cloned()
    });
    let has_patterns = [&*into, &*other]
        .iter()
        .any(|keywords| keywords.contains_key("patternProperties"));
    if let Some(Value::Object(patterns)) = other.remove("patternProperties")
        && let Value::Object(own) = into.entry("patternProperties").or_insert_with(|| json!({}))
    {
        add_each(own, patterns);
    }
    let is_exact = (0..2).all(|one| rests[one].is_none() || (closed[one] && !has_patterns));
    other.remove("additionalProperties");
    let [own, theirs] = rests;
    let refusal = theirs.clone().filter(|rest| *rest == Value::Bool(false));
    match refusal.or(own).or(theirs) {
        Some(rest) => drop(into.insert("additionalProperties".to_owned(), rest)),
        None => drop(into.remove("additionalProperties")),
    }
    (!is_exact).then(|| "additionalProperties".to_owned())
}

/// Adds named schemas to others. The schema of a name in both is the conjunction.
fn add_each(own: &mut Map<String, Value>, others: Map<String, Value>) {
    for (name, schema) in others {
        match own.get_mut(&name) {
            Some(own) => *own = both(std::mem::take(own), schema),
            None => drop(own.insert(name, schema)),
        }
    }
}

/// Returns true if an object may have no other properties than those that the schema names.
pub(super) fn is_closed(keywords: &Map<String, Value>) -> bool {
    members(keywords, "patternProperties").is_none()
        && keywords.get("additionalProperties") == Some(&Value::Bool(false))
}
