//! `nullable`, the keyword of OpenAPI for values that may be null. JSON Schema does not have it.

use serde_json::{Map, Value, json};

use crate::client::schema_repair::{NAMED, below};

/// The keywords beside which a type alone does not decide about null.
const OTHERS: [&str; 6] = ["$ref", "allOf", "anyOf", "const", "not", "oneOf"];

/// The keywords that stay at a schema which becomes an alternative.
const OUTER: [&str; 3] = ["default", "description", "title"];

/// Lets null fit the schemas below this one that are nullable.
pub(super) fn accept_null_below(schema: &mut Value, is_map: bool) {
    for (place, below) in below(schema, "") {
        accept_null_below(below, !is_map && NAMED.contains(&&place[1..]));
        if let Some(fields) = below.as_object_mut()
            && (is_map || !NAMED.contains(&&place[1..]))
            && fields
                .get("nullable")
                .is_some_and(|keyword| *keyword == true)
        {
            fields.remove("nullable");
            accept_null(fields);
        }
    }
}

fn accept_null(fields: &mut Map<String, Value>) {
    if OTHERS.iter().any(|keyword| fields.contains_key(*keyword)) {
        let mut outer = Map::new();
        for keyword in OUTER {
            outer.extend(fields.remove_entry(keyword));
        }
        let inner = std::mem::replace(fields, outer);
        fields.insert("anyOf".to_owned(), json!([inner, {"type": "null"}]));
        return;
    }
    match fields.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => kinds.push(json!("null")),
        Some(kind @ Value::String(_)) if *kind != "null" => *kind = json!([kind, "null"]),
        _ => {}
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_fits_a_nullable_schema_and_no_other_one() {
        let text = json!({"type": "string"});
        for (schema, expected) in [
            (
                json!({"type": "string", "nullable": true}),
                json!({"type": ["string", "null"]}),
            ),
            (
                json!({"type": ["string"], "nullable": true}),
                json!({"type": ["string", "null"]}),
            ),
            (
                json!({"enum": ["a"], "nullable": true}),
                json!({"enum": ["a", null]}),
            ),
            (json!({"nullable": true}), json!({})),
            (
                json!({"type": "string", "nullable": false}),
                json!({"type": "string", "nullable": false}),
            ),
            (
                json!({"$ref": "#/$defs/a", "nullable": true, "description": "d"}),
                json!({"description": "d", "anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}),
            ),
            (
                json!({"type": "array", "items": {"type": "string", "nullable": true}}),
                json!({"type": "array", "items": {"type": ["string", "null"]}}),
            ),
            // Properties of this name are no keyword.
            (
                json!({"type": "object", "properties": {"nullable": true, "properties": text}}),
                json!({"type": "object", "properties": {"nullable": true, "properties": text}}),
            ),
            (
                json!({"default": {"nullable": true, "type": "string"}}),
                json!({"default": {"nullable": true, "type": "string"}}),
            ),
        ] {
            let mut root = json!({"type": "object", "nullable": true, "properties": {"a": schema}});
            accept_null_below(&mut root, false);
            assert_eq!(root["properties"]["a"], expected);
            assert_eq!(root["type"], "object");
        }
    }
}
