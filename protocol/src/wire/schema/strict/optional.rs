//! Optional properties become required and may be null.

use serde_json::{Map, Value, json};

use crate::wire::schema::change::Rule;
use crate::wire::schema::keyword::{Holds, escaped, holds, members, strings, types};
use crate::wire::schema::log::Log;

/// Requires all properties in a checked schema.
pub(in crate::wire::schema) fn require_all(schema: &mut Value, pointer: String, log: &mut Log) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, value) in keywords.iter_mut() {
        let place = format!("{pointer}/{}", escaped(keyword));
        match (holds(keyword), value) {
            (Some(Holds::One), schema) => require_all(schema, place, log),
            (Some(Holds::Many), Value::Array(schemas)) => {
                for (index, schema) in schemas.iter_mut().enumerate() {
                    require_all(schema, format!("{place}/{index}"), log);
                }
            }
            (Some(Holds::Named), Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    require_all(schema, format!("{place}/{}", escaped(name)), log);
                }
            }
            _ => {}
        }
    }
    let Some(mut properties) = members(keywords, "properties").cloned() else { return };
    let mut required: Vec<_> = strings(keywords.get("required")).map(str::to_owned).collect();
    required.retain(|key| properties.contains_key(key));
    let mut others: Vec<_> = properties.keys().filter(|key| !required.contains(key)).cloned().collect();
    others.sort_unstable();
    for key in others {
        let outer = log.enter(format!("{pointer}/properties/{}", escaped(&key)));
        log.exact(Rule::Optional);
        log.enter(outer);
        if let Some(schema) = properties.get_mut(&key) {
            *schema = nullable(std::mem::take(schema));
        }
        required.push(key);
    }
    keywords.insert("required".to_owned(), required.into());
    keywords.insert("properties".to_owned(), Value::Object(properties));
}

/// Returns a schema for the same values and null.
fn nullable(schema: Value) -> Value {
    let Value::Object(mut keywords) = schema else { return schema };
    let is_scalar = |name: &&str| !matches!(*name, "object" | "array");
    match types(&keywords) {
        Some(types) if types.contains(&"null") && keywords.get("enum").is_none() && keywords.get("const").is_none() => {
        }
        Some(types) if types.iter().all(is_scalar) && !keywords.contains_key("anyOf") => {
            let mut types: Vec<_> = types.into_iter().map(Value::from).collect();
            if !types.contains(&"null".into()) {
                types.push("null".into());
            }
            keywords.insert("type".to_owned(), types.into());
            if let Some(value) = keywords.remove("const") {
                keywords.insert("enum".to_owned(), json!([value]));
            }
            if let Some(Value::Array(values)) = keywords.get_mut("enum")
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
        }
        _ if keywords.keys().all(|keyword| matches!(&**keyword, "anyOf" | "description" | "title"))
            && keywords.contains_key("anyOf") =>
        {
            if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
                && !branches.contains(&json!({"type": "null"}))
            {
                branches.push(json!({"type": "null"}));
            }
        }
        _ => {
            let description = keywords.remove("description");
            let mut outer = Map::from_iter([("anyOf".to_owned(), json!([keywords, {"type": "null"}]))]);
            outer.extend(description.map(|text| ("description".to_owned(), text)));
            return Value::Object(outer);
        }
    }
    Value::Object(keywords)
}
