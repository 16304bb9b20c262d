//! OpenAI's Responses API.

use serde_json::{Value, json};

use super::definition::Definition;
use super::exchange::{
    Exchange, InvalidCall, Piece, WireResult, arguments_text, data_url, from_data_url, parse_call, text_field,
};
use super::format::Spec;
use super::{NameGrammar, openai_chat};
use crate::{Content, ToolCall, ToolResult};

pub(super) const SPEC: Spec = Spec {
    name: "openai-responses",
    names: NameGrammar::Provider,
    dialect: openai_chat::DIALECT,
    strict: Some(openai_chat::STRICT),
    definition,
    exchange: Exchange { read_calls, write_calls, read_results, write_results },
};

/// An absent `strict` is true here, so it is always stated.
fn definition(definition: &Definition<'_>) -> String {
    let Definition { name, description, parameters, is_strict, .. } = definition;
    format!(
        r#"{{"type":"function","name":{name},"description":{description},"parameters":{parameters},"strict":{is_strict}}}"#
    )
}

/// Returns the items of a response or of a list, or the one item.
fn items(output: &Value) -> impl Iterator<Item = &Value> {
    let items = if output.get("type").is_some() { output } else { output.get("output").unwrap_or(output) };
    items.as_array().map_or(std::slice::from_ref(items), Vec::as_slice).iter()
}

fn read_calls(output: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
    items(output)
        .filter(|item| item["type"] == "function_call")
        .map(|item| parse_call(text_field(item, "call_id"), text_field(item, "name"), &item["arguments"]))
        .collect()
}

fn write_calls(calls: &[ToolCall]) -> Vec<Value> {
    let call = |call: &ToolCall| json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments_text(call)});
    calls.iter().map(call).collect()
}

fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { id, result, .. }: &WireResult| {
        let pieces = Piece::all(result);
        let is_text = pieces.iter().all(|piece| matches!(piece, Piece::Text(_)));
        let output = if is_text {
            Value::from(Piece::marked(Piece::joined(&pieces), result))
        } else {
            let part = |piece: Piece| match piece {
                Piece::Text(text) => json!({"type": "input_text", "text": Piece::marked(text, result)}),
                Piece::Image { data, mime_type } => {
                    json!({"type": "input_image", "image_url": data_url(&mime_type, &data)})
                }
            };
            pieces.into_iter().map(part).collect()
        };
        json!({"type": "function_call_output", "call_id": id, "output": output})
    };
    results.iter().map(result).collect()
}

fn read_results(output: &Value) -> Vec<WireResult> {
    let result = |item: &Value| {
        let content = match &item["output"] {
            Value::Array(parts) => parts.iter().filter_map(part).collect(),
            text => vec![Content::text(text.as_str().unwrap_or_default())],
        };
        let result = Piece::unmarked(ToolResult { content, ..ToolResult::default() });
        WireResult::new(text_field(item, "call_id"), "", result)
    };
    items(output).filter(|item| item["type"] == "function_call_output").map(result).collect()
}

fn part(part: &Value) -> Option<Content> {
    match part["type"].as_str()? {
        "input_text" => Some(Content::text(part["text"].as_str()?)),
        "input_image" => from_data_url(part["image_url"].as_str()?),
        _ => None,
    }
}
