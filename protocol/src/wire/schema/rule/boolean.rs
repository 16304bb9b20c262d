//! A `true` or `false` becomes an object, or goes.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::{Fidelity, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::{Holds, holds};
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    if dialect.booleans {
        return;
    }
    refused_properties(keywords, log);
    refused_items(keywords, log);
    refused_alternatives(keywords, log);
    for (keyword, value) in keywords.iter_mut() {
        match (holds(keyword), value) {
            (Some(Holds::One), schema) if keyword != "additionalProperties" => plain(schema, dialect, log),
            (Some(Holds::Many), Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| plain(schema, dialect, log))
            }
            (Some(Holds::Named), Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| plain(schema, dialect, log))
            }
            _ => {}
        }
    }
}

fn plain(schema: &mut Value, dialect: &Dialect, log: &mut Log) {
    let Value::Bool(accepts) = *schema else { return };
    let is_exact = accepts || dialect.takes("not");
    log.push(Rule::Boolean, if is_exact { Fidelity::Exact } else { Fidelity::Loosened });
    *schema = if accepts || !is_exact { json!({}) } else { json!({"not": {}}) };
}

/// A refused property of a closed object needs no entry. In an open object its entry is lost.
fn refused_properties(keywords: &mut Map<String, Value>, log: &mut Log) {
    let is_closed =
        keywords.get("additionalProperties") == Some(&false.into()) && !keywords.contains_key("patternProperties");
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return };
    let count = properties.len();
    properties.retain(|_, schema| !is_false(schema));
    if properties.len() < count {
        log.push(Rule::Boolean, if is_closed { Fidelity::Exact } else { Fidelity::Loosened });
    }
}

/// Refused items are a maximum number of items.
fn refused_items(keywords: &mut Map<String, Value>, log: &mut Log) {
    if !keywords.get("items").is_some_and(is_false) {
        return;
    }
    keywords.remove("items");
    let most = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
    let most = keywords.get("maxItems").and_then(Value::as_u64).map_or(most as u64, |own| own.min(most as u64));
    keywords.insert("maxItems".to_owned(), most.into());
    log.exact(Rule::Boolean);
}

/// A refused alternative needs no entry beside others.
fn refused_alternatives(keywords: &mut Map<String, Value>, log: &mut Log) {
    let Some(Value::Array(branches)) = keywords.get_mut("anyOf") else { return };
    let count = branches.len();
    if !branches.iter().all(is_false) {
        branches.retain(|schema| !is_false(schema));
    }
    if branches.len() < count {
        log.exact(Rule::Boolean);
    }
}

/// Returns true for `false` and for `{"not": {}}`, which accept nothing.
pub(super) fn is_false(schema: &Value) -> bool {
    schema == &Value::Bool(false) || schema == &json!({"not": {}}) || schema == &json!({"not": true})
}
