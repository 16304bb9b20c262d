//! The Model Context Protocol: `tools/list` and the parameters and results of `tools/call`.

use serde_json::{Map, Value, json};

use super::call::{ReadCall, WireResult, arguments_object, list, parse_call};
use super::definition::{Fields, Parts};
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, Patterns, References};
use crate::{Content, ToolCall, ToolResult};

/// The schemas of `inputSchema`: all of draft 2020-12 whose root has the type `object`
/// ([specification](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool)).
pub(super) const DIALECT: Dialect = Dialect {
    is_complete: true,
    keywords: Keywords::AllBut(&[]),
    references: References::Any,
    booleans: true,
    containers: false,
    enums: Enums::Any,
    formats: None,
    patterns: Patterns::Any,
    keys: KeyGrammar::Any,
    strict: None,
};

/// Leaves out an `outputSchema` whose root is not an object: clients of revisions before
/// [SEP-2106](https://modelcontextprotocol.io/seps/2106-json-schema-2020-12) refuse it.
pub(super) fn definition(parts: Parts<'_>) -> Fields {
    let tool = parts.tool;
    let mut fields = parts.fields("inputSchema");
    if let Some(title) = &tool.title {
        fields.insert(1, ("title", title.as_str().into()));
    }
    if !tool.icons.is_empty() {
        fields.push(("icons", json!(tool.icons).into()));
    }
    if let Some(output) = tool
        .output
        .as_ref()
        .filter(|schema| schema["type"] == "object")
    {
        fields.push(("outputSchema", output.clone().into()));
    }
    let annotations = match &tool.annotations {
        Some(hints) => json!(hints),
        None => json!(tool.effects.annotations()),
    };
    fields.push(("annotations", annotations.into()));
    fields
}

/// Reads the parameters of one `tools/call`. The id is that of the JSON-RPC request.
pub(super) fn read_calls(params: &Value) -> Vec<ReadCall<'_>> {
    let name = params.get("name").and_then(Value::as_str);
    let call = |name: &str| {
        (
            params,
            parse_call(String::new(), name.to_owned(), &params["arguments"]),
        )
    };
    name.map(call).into_iter().collect()
}

pub(super) fn write_call(call: &ToolCall) -> Value {
    json!({"name": call.name, "arguments": arguments_object(call)})
}

pub(super) fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { result, .. }: &WireResult| {
        let content: Vec<_> = result.content.iter().map(write_content).collect();
        let mut written = json!({"content": content, "isError": result.is_error});
        // The specification has an object here.
        if let Some(structured) = result
            .structured
            .as_ref()
            .filter(|value| value.node().is_object())
        {
            written["structuredContent"] = structured.value().clone();
        }
        written
    };
    results.iter().map(result).collect()
}

pub(super) fn read_results(result: &Value) -> Vec<WireResult> {
    if result.get("content").is_none() {
        return Vec::new();
    }
    let content = list(result, "content").filter_map(read_content).collect();
    let structured = result.get("structuredContent").cloned().map(Into::into);
    let result = ToolResult {
        content,
        structured,
        is_error: result["isError"] == true,
        task: None,
    };
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
    let Value::Object(fields) = value else {
        return value;
    };
    let field = |(key, value): (String, Value)| {
        let key = if key == from { to.to_owned() } else { key };
        let value = if key == "resource" {
            renamed(value, from, to)
        } else {
            value
        };
        (key, value)
    };
    Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
}
