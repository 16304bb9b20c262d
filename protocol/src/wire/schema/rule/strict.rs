//! Objects are closed, and listed values have a type.

use serde_json::{Map, Value};

use super::enumeration::type_of;
use crate::wire::schema::change::Fidelity;
use crate::wire::schema::change::Rule;
use crate::wire::schema::keyword::types;
use crate::wire::schema::log::Log;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, log: &mut Log) {
    without_partial_alternatives(keywords, log);
    typed(keywords);
    let is_object = types(keywords).is_some_and(|types| types.contains(&"object"));
    if !is_object || !keywords.contains_key("properties") {
        return;
    }
    if !keywords.contains_key("additionalProperties") {
        keywords.insert("additionalProperties".to_owned(), false.into());
        log.push(Rule::Closed, Fidelity::Narrowed);
    }
}

/// Alternatives that only say which properties are required together have no strict form.
fn without_partial_alternatives(keywords: &mut Map<String, Value>, log: &mut Log) {
    let is_partial = |branch: &Value| {
        branch.as_object().is_some_and(|branch| branch.keys().all(|keyword| matches!(&**keyword, "required" | "type")))
    };
    let has_properties = keywords.contains_key("properties");
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    if has_properties && branches.is_some_and(|branches| branches.iter().all(is_partial)) {
        keywords.remove("anyOf");
        log.loosened(Rule::Keyword("anyOf".to_owned()));
    }
}

/// States the type of listed values.
fn typed(keywords: &mut Map<String, Value>) {
    if keywords.contains_key("type") {
        return;
    }
    let values = match (keywords.get("const"), keywords.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values,
        _ => return,
    };
    let mut kinds: Vec<_> = values.iter().map(type_of).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kind = if let [one] = kinds[..] { Value::from(one) } else { Value::from(kinds) };
    keywords.insert("type".to_owned(), kind);
}
