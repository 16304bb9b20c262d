//! An `enum` keeps the values that the service takes.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::Rule;
use crate::wire::schema::dialect::{Dialect, Enums};
use crate::wire::schema::keyword::types;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, dialect: &Dialect, log: &mut Log) {
    let takes = |value: &Value| match dialect.enums {
        Enums::Any => true,
        Enums::Scalars => !value.is_object() && !value.is_array(),
        Enums::StringsAndNumbers => value.is_string() || value.is_number(),
    };
    if keywords.get("const").is_some_and(|value| !takes(value)) {
        let value = keywords.remove("const").unwrap_or_default();
        replace(keywords, vec![value], log);
    }
    let Some(Value::Array(values)) = keywords.get("enum") else { return };
    if values.iter().all(takes) {
        return;
    }
    let values = values.clone();
    keywords.remove("enum");
    let (mut kept, others): (Vec<_>, Vec<_>) = values.into_iter().partition(takes);
    let is_scalar = |name: &&str| matches!(*name, "string" | "number" | "integer" | "null");
    let has_scalars = types(keywords).is_none_or(|types| types.iter().all(is_scalar));
    if has_scalars && !kept.is_empty() && others == [Value::Null] && !keywords.contains_key("anyOf") {
        log.exact(Rule::Enumeration);
        let kind = keywords.remove("type");
        let mut branch = Map::from_iter([("enum".to_owned(), Value::Array(std::mem::take(&mut kept)))]);
        branch.extend(kind.clone().and_then(without_null).map(|kind| ("type".to_owned(), kind)));
        let accepts_null =
            kind.is_none_or(|kind| kind == "null" || kind.as_array().is_some_and(|all| all.contains(&"null".into())));
        let mut branches = vec![Value::Object(branch)];
        branches.extend(accepts_null.then(|| json!({"type": "null"})));
        keywords.insert("anyOf".to_owned(), Value::Array(branches));
        return;
    }
    kept.extend(others);
    replace(keywords, kept, log);
}

/// Replaces values by their types.
fn replace(keywords: &mut Map<String, Value>, values: Vec<Value>, log: &mut Log) {
    log.loosened(Rule::Enumeration);
    if keywords.contains_key("type") {
        return;
    }
    let mut types: Vec<_> = values.iter().map(type_of).collect();
    types.sort_unstable();
    types.dedup();
    let kind = if let [one] = types[..] { Value::from(one) } else { Value::from(types) };
    keywords.insert("type".to_owned(), kind);
}

/// Returns the type of a value.
pub(in crate::wire::schema) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn without_null(kind: Value) -> Option<Value> {
    match kind {
        Value::Array(mut kinds) => {
            kinds.retain(|kind| kind != "null");
            if kinds.len() == 1 { kinds.pop() } else { (!kinds.is_empty()).then_some(Value::Array(kinds)) }
        }
        kind => (kind != "null").then_some(kind),
    }
}
