//! Replaces a `false` by a bound, or removes it.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::{Changes, Rule};
use crate::wire::schema::dialect::Dialect;
use crate::wire::schema::keyword::replace_each;
use crate::wire::schema::merge::is_closed;

pub(in crate::wire::schema) fn boolean(
    keywords: &mut Map<String, Value>,
    dialect: &Dialect,
    changes: &mut Changes,
) {
    if dialect.booleans {
        return;
    }
    let is_false = |schema: &Value| schema == &Value::Bool(false);
    let is_closed = is_closed(keywords);
    if let Some(Value::Object(properties)) = keywords.get_mut("properties")
        && properties.values().any(is_false)
    {
        properties.retain(|_, schema| !is_false(schema));
        // A closed object refuses a property without an entry.
        changes.exact_if(is_closed, Rule::Boolean);
    }
    if keywords.get("items").is_some_and(is_false) {
        keywords.remove("items");
        let count = keywords
            .get("prefixItems")
            .and_then(Value::as_array)
            .map_or(0, Vec::len) as u64;
        let most = keywords
            .get("maxItems")
            .and_then(Value::as_u64)
            .map_or(count, |own| own.min(count));
        keywords.insert("maxItems".to_owned(), most.into());
        changes.exact(Rule::Boolean);
    }
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
        && branches.iter().any(is_false)
        && !branches.iter().all(is_false)
    {
        branches.retain(|branch| !is_false(branch));
        changes.exact(Rule::Boolean);
    }
    replace_each(keywords, |schema, at| match schema {
        Value::Bool(_) if at != "/additionalProperties" => {
            changes.loosened(Rule::Boolean);
            json!({})
        }
        schema => schema,
    });
}
