//! Turns a `const` into an `enum`, and removes values that the service does not take.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::{Changes, Rule};
use crate::wire::schema::dialect::{Dialect, Enums};
use crate::wire::schema::keyword::{set_types, types};

/// Rewrites listed values. If properties have other keys on the wire, listed objects would not match.
pub(in crate::wire::schema) fn values(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    has_other_keys: bool,
    changes: &mut Changes,
) {
    let takes = |value: &Value| match dialect.enums {
        Enums::Any if !has_other_keys => true,
        Enums::Any | Enums::Scalars => !value.is_object() && !value.is_array(),
        Enums::TextsAndNumbers => value
            .as_str()
            .map_or(value.is_number(), |text| !text.is_empty()),
    };
    if let Some(value) = keywords.get("const").cloned()
        && (!dialect.takes("const") || !takes(&value))
    {
        keywords.remove("const");
        let replaces = keywords.insert("enum".to_owned(), json!([value])).is_some();
        changes.exact_if(!replaces, Rule::Constant);
    }
    let Some(Value::Array(values)) = keywords.get("enum") else {
        return;
    };
    // An empty list is refused too: https://github.com/elastic/kibana/pull/286302
    if !values.is_empty() && values.iter().all(takes) {
        return;
    }
    let values = values.clone();
    keywords.remove("enum");
    let (kept, others): (Vec<_>, Vec<_>) = values.iter().cloned().partition(takes);
    // Null, and any text instead of the empty one, may be an alternative beside listed ones.
    if !kept.is_empty()
        && others.iter().all(|value| value.is_null() || value == "")
        && !keywords.contains_key("anyOf")
    {
        return with_branches(keywords, kept, &others, changes);
    }
    changes.loosened(Rule::Enumeration);
    if !values.is_empty() && !keywords.contains_key("type") {
        set_types_of(keywords, &values);
    }
}

/// Lists values as one alternative, so that the model sees them. Each of `others` is another, if the type accepts it.
fn with_branches(
    keywords: &mut Map<String, Value>,
    kept: Vec<Value>,
    others: &[Value],
    changes: &mut Changes,
) {
    let mut listed = Map::from_iter([("enum".to_owned(), Value::Array(kept))]);
    let accepts = |name| types(keywords).is_none_or(|types| types.contains(&name));
    let is_other = |value| others.contains(&value);
    let [or_text, or_null] = [
        accepts("string") && is_other(json!("")),
        accepts("null") && is_other(Value::Null),
    ];
    if let Some(types) = types(keywords) {
        let others: Vec<_> = types.into_iter().filter(|name| *name != "null").collect();
        if !others.is_empty() {
            set_types(&mut listed, others);
        }
    }
    keywords.remove("type");
    let mut branches = vec![Value::Object(listed)];
    branches.extend(or_text.then(|| json!({"type": "string"})));
    branches.extend(or_null.then(|| json!({"type": "null"})));
    keywords.insert("anyOf".to_owned(), Value::Array(branches));
    changes.exact_if(!or_text, Rule::Enumeration);
}

/// States the types of values.
pub(in crate::wire::schema) fn set_types_of(keywords: &mut Map<String, Value>, values: &[Value]) {
    let mut types: Vec<_> = values.iter().map(type_of).collect();
    types.sort_unstable();
    types.dedup();
    set_types(keywords, types);
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
