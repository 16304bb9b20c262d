//! Requires optional properties, and adds the null that means absence.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::wire::schema::keyword::{members, replace_each, sorted, strings, types};

/// Returns true if null matches a schema. `target` returns the target of a reference. Targets inside of targets are not searched.
pub(in crate::wire::schema) fn accepts_null<'d>(
    schema: &Value,
    target: &dyn Fn(&str) -> Option<&'d Value>,
) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    if let Some(Value::String(reference)) = keywords.get("$ref") {
        return target(reference).is_some_and(|schema| accepts_null(schema, &|_| None));
    }
    let list = |keyword| keywords.get(keyword).and_then(Value::as_array);
    types(keywords).is_none_or(|types| types.contains(&"null"))
        && keywords.get("const").is_none_or(Value::is_null)
        && list("enum").is_none_or(|values| values.contains(&Value::Null))
        && list("anyOf")
            .is_none_or(|branches| branches.iter().any(|branch| accepts_null(branch, target)))
}

/// Requires all properties of a strict schema, at any depth.
pub(in crate::wire::schema) fn require_all(mut schema: Value) -> Value {
    let Value::Object(keywords) = &mut schema else {
        return schema;
    };
    replace_each(keywords, |schema, _| require_all(schema));
    let Some(properties) = members(keywords, "properties") else {
        return schema;
    };
    let required: BTreeSet<_> = strings(keywords.get("required")).collect();
    let keys = sorted(properties).map(|(key, _)| key.clone());
    let optional: Vec<_> = keys.filter(|key| !required.contains(&**key)).collect();
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        for key in &optional {
            if let Some(schema) = properties.get_mut(key) {
                *schema = nullable(std::mem::take(schema));
            }
        }
    }
    let required = keywords.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        required.extend(optional.into_iter().map(Value::from));
    }
    schema
}

/// Returns a schema for the values of a strict schema and null.
fn nullable(schema: Value) -> Value {
    if accepts_null(&schema, &|_| None) {
        return schema;
    }
    let Value::Object(mut keywords) = schema else {
        return schema;
    };
    let is_scalar = types(&keywords).is_some_and(|types| {
        types
            .iter()
            .all(|name| !matches!(*name, "object" | "array"))
    });
    let is_union = keywords
        .keys()
        .all(|keyword| matches!(&**keyword, "anyOf" | "description" | "title"));
    if is_union && let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        branches.push(json!({"type": "null"}));
    } else if is_scalar && !keywords.contains_key("anyOf") {
        let mut types: Vec<_> = types(&keywords)
            .unwrap_or_default()
            .into_iter()
            .map(Value::from)
            .collect();
        types.retain(|name| name != "null");
        types.push("null".into());
        keywords.insert("type".to_owned(), types.into());
        if let Some(value) = keywords.remove("const") {
            keywords.insert("enum".to_owned(), json!([value]));
        }
        if let Some(Value::Array(values)) = keywords.get_mut("enum") {
            values.push(Value::Null);
        }
    } else {
        let description = keywords.remove("description");
        let mut outer = Map::from_iter([("anyOf".to_owned(), json!([keywords, {"type": "null"}]))]);
        outer.extend(description.map(|text| ("description".to_owned(), text)));
        return outer.into();
    }
    keywords.into()
}
