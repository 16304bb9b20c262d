//! Ollama's chat API.

use serde_json::{Value, json};

use super::exchange::{Exchange, InvalidCall, Piece, WireResult, list, parse_call, text_field};
use super::format::Spec;
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, References};
use super::{NameGrammar, openai_chat};
use crate::{Content, ToolCall, ToolResult};

pub(super) const SPEC: Spec = Spec {
    name: "ollama",
    names: NameGrammar::Provider,
    dialect: DIALECT,
    strict: None,
    definition: openai_chat::SPEC.definition,
    exchange: Exchange { read_calls, write_calls, read_results, write_results },
};

/// Ollama reads definitions into Go types (`api/types.go`: `ToolFunctionParameters`, `ToolProperty`). They refuse a boolean as a
/// schema and a root whose `type` is not a string. They drop references and combinators other than `anyOf` without an error, so that
/// the model would not see them.
const DIALECT: Dialect = Dialect {
    is_complete: false,
    keywords: Keywords::AllBut(&["allOf", "const", "oneOf"]),
    references: References::None,
    booleans: false,
    containers: true,
    enums: Enums::Any,
    formats: None,
    keys: KeyGrammar::Any,
    strict: false,
};

/// Begins the ids of calls to which the service gave none. They are not sent back.
const OWN_ID: &str = "ollama_call_";

fn read_calls(message: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
    let read = |(index, call): (usize, &Value)| {
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let id = id.map_or_else(|| format!("{OWN_ID}{index}"), str::to_owned);
        let none = json!({});
        let function = &call["function"];
        parse_call(id, text_field(function, "name"), function.get("arguments").unwrap_or(&none))
    };
    list(message, "tool_calls").enumerate().map(read).collect()
}

fn write_calls(calls: &[ToolCall]) -> Vec<Value> {
    let call = |call: &ToolCall| {
        let mut written = json!({"function": {"name": call.name, "arguments": call.arguments.value()}});
        if !call.id.starts_with(OWN_ID) {
            written["id"] = Value::from(&*call.id);
        }
        written
    };
    vec![json!({"role": "assistant", "content": "", "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})]
}

fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { id, name, result }: &WireResult| {
        let (texts, pictures): (Vec<_>, Vec<_>) =
            Piece::all(result).into_iter().partition(|piece| matches!(piece, Piece::Text(_)));
        let text = Piece::marked(Piece::joined(&texts), result);
        let mut message = json!({"role": "tool", "tool_name": name, "content": text});
        if !id.starts_with(OWN_ID) {
            message["tool_call_id"] = Value::from(&**id);
        }
        let images: Vec<_> = pictures.into_iter().filter_map(Piece::into_image_data).collect();
        if !images.is_empty() {
            message["images"] = images.into();
        }
        message
    };
    results.iter().map(result).collect()
}

fn read_results(message: &Value) -> Vec<WireResult> {
    if message["role"] != "tool" {
        return Vec::new();
    }
    let mut result = ToolResult::text(text_field(message, "content"));
    for image in list(message, "images").filter_map(Value::as_str) {
        // The service does not keep the type of a picture.
        result.content.push(Content::Image { data: image.to_owned(), mime_type: "image/*".to_owned() });
    }
    let id = message["tool_call_id"].as_str().unwrap_or("ollama_call_0");
    vec![WireResult::new(id, text_field(message, "tool_name"), Piece::unmarked(result))]
}
