//! OpenAI's Responses API. Schemas are those of [`openai_chat`](super::openai_chat).

use serde_json::{Value, json};

use super::Format;
use super::call::{ReadCall, WireResult, parse_call, text_field};
use super::definition::{Fields, Parts};
use super::piece::Piece;
use crate::call::ToolCall;

/// Always states `strict`: [absent, it is true](https://platform.openai.com/docs/guides/function-calling#strict-mode).
pub(super) fn definition(parts: Parts<'_>) -> Fields {
    let mut fields = parts.fields("parameters");
    fields.insert(0, ("type", "function".into()));
    // Always stated: this service takes an absent value for true.
    fields.push(("strict", parts.is_strict.into()));
    fields
}

/// Returns the items of a response or of a list, or the one item.
fn items(output: &Value) -> impl Iterator<Item = &Value> {
    let items = if output.get("type").is_some() {
        output
    } else {
        output.get("output").unwrap_or(output)
    };
    items
        .as_array()
        .map_or(std::slice::from_ref(items), Vec::as_slice)
        .iter()
}

pub(super) fn read_calls(output: &Value) -> Vec<ReadCall<'_>> {
    items(output)
        .filter(|item| item["type"] == "function_call")
        .map(|item| {
            let id = text_field(item, "call_id");
            let name = text_field(item, "name");
            parse_call(item, id, name, &item["arguments"])
        })
        .collect()
}

pub(super) fn write_call(call: &ToolCall) -> Value {
    let arguments = call.arguments.to_string();
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
}

/// An output is a text or [a list of parts](https://platform.openai.com/docs/api-reference/responses/create).
pub(super) fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { id, result, .. }: &WireResult| {
        let (pieces, _) = Format::OpenAiResponses.pieces(id, result);
        let output = match &*pieces {
            [Piece::Text(text)] => Value::from(&**text),
            pieces => {
                let parts = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => json!({"type": "input_text", "text": text}),
                    Piece::Image(image) => {
                        json!({"type": "input_image", "image_url": image.to_url()})
                    }
                });
                parts.collect()
            }
        };
        json!({"type": "function_call_output", "call_id": id, "output": output})
    };
    results.iter().map(result).collect()
}
