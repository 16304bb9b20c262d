//! The Model Context Protocol: `tools/list` and the parameters and results of `tools/call`.

use serde_json::{Map, Value, json};

use super::NameGrammar;
use super::definition::{Definition, json as text};
use super::exchange::{Exchange, InvalidCall, WireResult, list, parse_call, text_field};
use super::format::Spec;
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, References};
use crate::{Content, ToolCall, ToolResult};

pub(super) const SPEC: Spec = Spec {
    name: "mcp",
    names: NameGrammar::Mcp,
    dialect: DIALECT,
    strict: None,
    definition,
    exchange: Exchange { read_calls, write_calls, read_results, write_results },
};

/// Every schema whose root has the type `object`.
const DIALECT: Dialect = Dialect {
    is_complete: true,
    keywords: Keywords::AllBut(&[]),
    references: References::Any,
    booleans: true,
    containers: false,
    enums: Enums::Any,
    formats: None,
    keys: KeyGrammar::Any,
    strict: false,
};

fn definition(definition: &Definition<'_>) -> String {
    let Definition { tool, name, description, parameters, .. } = definition;
    let title = tool.title.as_ref().map_or_else(String::new, |title| format!(r#","title":{}"#, text(title)));
    format!(r#"{{"name":{name}{title},"description":{description},"inputSchema":{parameters}}}"#)
}

/// Reads the parameters of one `tools/call`. The id is that of the JSON-RPC request, which carries them.
fn read_calls(params: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
    let none = json!({});
    let arguments = params.get("arguments").unwrap_or(&none);
    vec![parse_call(String::new(), text_field(params, "name"), arguments)]
}

fn write_calls(calls: &[ToolCall]) -> Vec<Value> {
    calls.iter().map(|call| json!({"name": call.name, "arguments": call.arguments.value()})).collect()
}

fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { result, .. }: &WireResult| {
        let content: Vec<_> = result.content.iter().map(write_content).collect();
        let mut written = json!({"content": content, "isError": result.is_error});
        // The protocol wants an object.
        if let Some(structured) = result.structured.as_ref().filter(|value| value.node().is_object()) {
            written["structuredContent"] = structured.value().clone();
        }
        written
    };
    results.iter().map(result).collect()
}

fn read_results(result: &Value) -> Vec<WireResult> {
    let content = list(result, "content").filter_map(read_content).collect();
    let structured = result.get("structuredContent").cloned().map(Into::into);
    let result = ToolResult { content, structured, is_error: result["isError"] == true };
    vec![WireResult::new("", "", result)]
}

fn write_content(content: &Content) -> Value {
    let value = serde_json::to_value(content).unwrap_or_default();
    renamed(value, "mime_type", "mimeType")
}

/// Returns `None` for content of a kind that the protocol does not have.
fn read_content(content: &Value) -> Option<Content> {
    serde_json::from_value(renamed(content.clone(), "mimeType", "mime_type")).ok()
}

/// Renames a field of a content block and of the resource in it.
fn renamed(value: Value, from: &str, to: &str) -> Value {
    let Value::Object(fields) = value else { return value };
    let field = |(key, value): (String, Value)| {
        let key = if key == from { to.to_owned() } else { key };
        let value = if key == "resource" { renamed(value, from, to) } else { value };
        (key, value)
    };
    Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
}
