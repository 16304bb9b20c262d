//! Arguments that a server requires although they have a default.

use serde_json::{Map, Value};

/// Makes the required arguments with a usable default optional. [`fill`] adds them to a call.
pub(super) fn make_optional(schema: &mut Map<String, Value>) {
    let names = list_filled(schema);
    if let Some(Value::Array(required)) = schema.get_mut("required")
        && !names.is_empty()
    {
        required.retain(|name| !names.iter().any(|filled| name == filled));
        if required.is_empty() {
            schema.remove("required");
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties
            .values_mut()
            .filter_map(Value::as_object_mut)
            .for_each(make_optional);
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        make_optional(items);
    }
}

/// Adds the required arguments that a call leaves out, with the defaults of the server's schema.
pub(super) fn fill(schema: &Map<String, Value>, arguments: &mut Value) {
    match arguments {
        Value::Object(given) => {
            let Some(Value::Object(properties)) = schema.get("properties") else {
                return;
            };
            for name in list_filled(schema) {
                let default = properties
                    .get(&name)
                    .and_then(|property| property.get("default"));
                if let Some(default) = default {
                    given.entry(name).or_insert_with(|| default.clone());
                }
            }
            for (name, value) in given {
                if let Some(Value::Object(property)) = properties.get(name) {
                    fill(property, value);
                }
            }
        }
        Value::Array(elements) => {
            if let Some(Value::Object(items)) = schema.get("items") {
                elements.iter_mut().for_each(|element| fill(items, element));
            }
        }
        _ => {}
    }
}

/// Returns the names of the required arguments with a usable default.
fn list_filled(schema: &Map<String, Value>) -> Vec<String> {
    let Some(Value::Array(required)) = schema.get("required") else {
        return Vec::new();
    };
    let properties = schema.get("properties").unwrap_or(&Value::Null);
    let names = required.iter().filter_map(Value::as_str);
    let filled = names.filter(|name| {
        let default = properties[*name].get("default");
        default.is_some_and(|default| fits(default, &properties[*name]))
    });
    filled.map(str::to_owned).collect()
}

/// Returns true if a default has the type of its property, as far as the property says one.
fn fits(default: &Value, property: &Value) -> bool {
    match property.get("type") {
        _ if default.is_null() && property.get("nullable") == Some(&Value::Bool(true)) => true,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| has_type(default, kind)),
        Some(kind @ Value::String(_)) => has_type(default, kind),
        _ if default.is_null() => {
            let variants = ["anyOf", "oneOf"]
                .iter()
                .filter_map(|key| property.get(*key)?.as_array());
            variants
                .flatten()
                .any(|variant| variant.get("type").is_some_and(|kind| kind == "null"))
        }
        _ => true,
    }
}

fn has_type(value: &Value, kind: &Value) -> bool {
    match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_required_argument_with_a_default_is_optional_and_sent() {
        let served = json!({
            "type": "object", "required": ["type", "path", "n", "at"],
            "properties": {
                "type": {"type": "string", "default": "png"}, "path": {"type": "string"}, "n": {"type": "integer", "default": "1"},
                "at": {"type": "object", "default": {}, "required": ["x"], "properties": {"x": {"type": "integer", "default": 0}}},
                "more": {"type": "array", "items": {"type": "object", "required": ["y"], "properties": {"y": {"default": null, "anyOf": [{"type": "null"}]}}}},
            },
        });
        let served = served.as_object().unwrap();
        let mut offered = served.clone();
        make_optional(&mut offered);
        assert_eq!(offered["required"], json!(["path", "n"]));
        assert!(offered["properties"]["at"].get("required").is_none());
        let mut arguments = json!({"path": "a", "more": [{}, {"y": 1}]});
        fill(served, &mut arguments);
        assert_eq!(
            arguments,
            json!({"path": "a", "type": "png", "at": {"x": 0}, "more": [{"y": null}, {"y": 1}]})
        );
        let mut given = json!({"path": "a", "type": "jpeg", "n": 2, "at": {"x": 1}});
        fill(served, &mut given);
        assert_eq!(
            given,
            json!({"path": "a", "type": "jpeg", "n": 2, "at": {"x": 1}})
        );
    }
}
