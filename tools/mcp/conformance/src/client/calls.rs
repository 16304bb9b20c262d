//! The calls of a session: names and arguments.

use serde_json::{Map, Value, json};
use tools::{SharedCatalog, ToolName};

/// The tool of the suite that gets the schema of each other tool.
const ECHO: &str = "mcp:suite/json_schema_echo";

/// Returns the calls that a scenario asks for.
pub(crate) fn of_scenario(calls: &[Value]) -> Vec<(String, Value)> {
    let name = |call: &Value| format!("mcp:suite/{}", call["name"].as_str().unwrap_or_default());
    calls
        .iter()
        .map(|call| (name(call), without_nulls(&call["arguments"])))
        .collect()
}

/// Returns a call of each tool.
pub(crate) fn of_tools(catalog: &SharedCatalog, names: &[ToolName]) -> Vec<(String, Value)> {
    let has_echo = names.iter().any(|name| name.as_str() == ECHO);
    let entries = names
        .iter()
        .filter_map(|name| catalog.get(name.as_str()).ok());
    let entries = entries.filter(|entry| entry.name().as_str() != ECHO);
    entries
        .map(|entry| {
            let schema = &entry.tool().parameters;
            if has_echo {
                (ECHO.to_owned(), json!({"schema": schema}))
            } else {
                (entry.name().to_string(), for_schema(schema))
            }
        })
        .collect()
}

/// Returns arguments with each required property.
fn for_schema(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let arguments = required.filter_map(Value::as_str).map(|name| {
        let value = match schema["properties"][name]["type"].as_str() {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            Some("array") => json!([]),
            Some("null") => Value::Null,
            _ => json!("test"),
        };
        (name.to_owned(), value)
    });
    arguments.collect::<Map<_, _>>().into()
}

/// Leaves out arguments that are null. A scenario passes null for a boolean, which the pipeline refuses.
fn without_nulls(arguments: &Value) -> Value {
    let given = arguments
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}
