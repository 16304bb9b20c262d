//! Ollama's chat API. Definitions are those of [`openai_chat`](super::openai_chat), without strict mode.

use serde_json::{Value, json};

use super::Format;
use super::call::{ReadCall, WireResult, arguments_object, list, parse_call, text_field};
use super::piece::Piece;
use super::schema::{Dialect, Keywords, References};
use crate::call::ToolCall;

/// The schemas that [`ToolFunctionParameters` and `ToolProperty`](https://github.com/ollama/ollama/blob/562c76d7/api/types.go#L203-L321)
/// hold.
///
/// The Go types refuse a boolean as a schema and a root whose `type` is not a string. Without an error, they drop all keywords of a
/// property except `type`, `anyOf`, `items`, `description`, `enum` and `properties`. References and combinators are rewritten to those.
/// Bounds and formats stay, although the model does not see them: the definition is then as exact as the format allows.
pub(super) const DIALECT: Dialect = Dialect {
    keywords: Keywords::AllBut("allOf const oneOf"),
    references: References::None,
    ..Dialect::PLAIN
};

/// The types of images that [all versions take](https://github.com/ollama/ollama/issues/2457).
pub(super) const IMAGES: [&str; 2] = ["image/png", "image/jpeg"];

/// Begins the ids of calls that the service sent without one. They are not sent back.
const OWN_ID: &str = "ollama_call_";

pub(super) fn read_calls(message: &Value) -> Vec<ReadCall<'_>> {
    list(message, "tool_calls")
        .enumerate()
        .map(|(index, call)| {
            let own = Some(text_field(call, "id")).filter(|id| !id.is_empty());
            let id = own.unwrap_or_else(|| format!("{OWN_ID}{index}"));
            let name = text_field(&call["function"], "name");
            let arguments = &call["function"]["arguments"];
            parse_call(call, id, name, arguments)
        })
        .collect()
}

pub(super) fn write_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": arguments_object(call)});
    with_id("id", &call.id, json!({"function": function}))
}

pub(super) fn message(calls: Vec<Value>) -> Vec<Value> {
    vec![json!({"role": "assistant", "content": "", "tool_calls": calls})]
}

pub(super) fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { id, name, result }: &WireResult| {
        let (text, images) = Piece::split(Format::Ollama.pieces(id, result).0);
        let mut message = json!({"role": "tool", "tool_name": name, "content": text});
        if !images.is_empty() {
            message["images"] = images.into_iter().map(|image| image.data).collect();
        }
        with_id("tool_call_id", id, message)
    };
    results.iter().map(result).collect()
}

fn with_id(field: &str, id: &str, mut value: Value) -> Value {
    if !id.is_empty() && !id.starts_with(OWN_ID) {
        value[field] = id.into();
    }
    value
}
