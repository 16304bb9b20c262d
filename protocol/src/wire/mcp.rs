//! The Model Context Protocol: `tools/list` and the parameters and results of `tools/call`.

use serde_json::{Value, json};

use super::call::{ReadCall, WireResult, arguments_object, parse_call};
use super::definition::{Fields, Parts};
use super::schema::Dialect;
use crate::call::ToolCall;
use crate::content::Content;

/// The schemas of `inputSchema`: all of draft 2020-12 whose root has the type `object`
/// ([specification](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool)).
pub(super) const DIALECT: Dialect = Dialect {
    is_complete: true,
    booleans: true,
    containers: false,
    ..Dialect::PLAIN
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
    name.map(|name| parse_call(params, String::new(), name.to_owned(), &params["arguments"]))
        .into_iter()
        .collect()
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

fn write_content(content: &Content) -> Value {
    let mut value = serde_json::to_value(content).unwrap_or_default();
    rename_media_type(Some(&mut value));
    rename_media_type(value.get_mut("resource"));
    value
}

/// Renames a field of a content block, or of the resource in it.
fn rename_media_type(block: Option<&mut Value>) {
    if let Some(Value::Object(fields)) = block
        && let Some(media_type) = fields.remove("mime_type")
    {
        fields.insert("mimeType".to_owned(), media_type);
    }
}
