//! The arguments of calls.

use serde_json::{Map, Value, json};

/// Returns arguments with each required property.
pub(crate) fn for_schema(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("object") => json!({}),
        Some("array") => json!([]),
        Some("null") => Value::Null,
        _ => json!("test"),
    };
    required.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>().into()
}

/// Leaves out arguments that are null, which the suite passes for a property of another type and the pipeline refuses.
pub(crate) fn without_nulls(mut arguments: Value) -> Value {
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.retain(|_, value| !value.is_null());
    }
    if arguments.is_null() { json!({}) } else { arguments }
}
