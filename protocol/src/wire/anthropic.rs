//! Anthropic's Messages API.

use serde_json::{Map, Value, json};

use super::definition::Definition;
use super::exchange::{Exchange, InvalidCall, Piece, WireResult, list, parse_call, text_field};
use super::format::Spec;
use super::schema::{Dialect, Enums, Keywords, References};
use super::{NameGrammar, openai_chat};
use crate::{Content, ToolCall, ToolResult};

pub(super) const SPEC: Spec = Spec {
    name: "anthropic",
    names: NameGrammar::Provider,
    dialect: DIALECT,
    strict: Some(STRICT),
    definition,
    exchange: Exchange { read_calls, write_calls, read_results, write_results },
};

/// Every schema of draft 2020-12 below a root that is an object without combinators: "input_schema does not support oneOf, allOf, or
/// anyOf at the top level" (anthropics/claude-code#40075). "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
/// (beautyfree/appstore-connect-mcp#2).
const DIALECT: Dialect = openai_chat::DIALECT;

/// The subset of strict tool use, from the guide "Structured outputs" of Claude's platform: no recursion, no bounds, no lengths.
const STRICT: Dialect = Dialect {
    keywords: Keywords::Only(&[
        "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "format", "items",
        "patternProperties", "prefixItems", "properties", "required", "title", "type",
    ]),
    references: References::AloneWithoutRecursion,
    enums: Enums::Scalars,
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
    ..openai_chat::STRICT
};

fn definition(definition: &Definition<'_>) -> String {
    let Definition { name, description, parameters, is_strict, .. } = definition;
    let strict = if *is_strict { r#","strict":true"# } else { "" };
    format!(r#"{{"name":{name},"description":{description},"input_schema":{parameters}{strict}}}"#)
}

fn read_calls(message: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
    list(message, "content")
        .filter(|block| block["type"] == "tool_use")
        .map(|block| parse_call(text_field(block, "id"), text_field(block, "name"), &block["input"]))
        .collect()
}

fn write_calls(calls: &[ToolCall]) -> Vec<Value> {
    let call = |call: &ToolCall| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments.value()});
    vec![json!({"role": "assistant", "content": calls.iter().map(call).collect::<Vec<_>>()})]
}

fn write_results(results: &[WireResult]) -> Vec<Value> {
    let result = |WireResult { id, result, .. }: &WireResult| {
        let piece = |piece: Piece| match piece {
            Piece::Text(text) => json!({"type": "text", "text": text}),
            Piece::Image { data, mime_type } => {
                json!({"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}})
            }
        };
        let content: Vec<_> = Piece::all(result).into_iter().map(piece).collect();
        let mut block = Map::from_iter([
            ("type".to_owned(), "tool_result".into()),
            ("tool_use_id".to_owned(), Value::from(&**id)),
            ("content".to_owned(), content.into()),
        ]);
        if result.is_error {
            block.insert("is_error".to_owned(), true.into());
        }
        Value::Object(block)
    };
    vec![json!({"role": "user", "content": results.iter().map(result).collect::<Vec<_>>()})]
}

fn read_results(message: &Value) -> Vec<WireResult> {
    let result = |block: &Value| {
        let content = match &block["content"] {
            Value::String(text) => vec![Content::text(text)],
            parts => parts.as_array().into_iter().flatten().filter_map(part).collect(),
        };
        let is_error = block["is_error"] == true;
        WireResult::new(text_field(block, "tool_use_id"), "", ToolResult { content, is_error, ..ToolResult::default() })
    };
    list(message, "content").filter(|block| block["type"] == "tool_result").map(result).collect()
}

fn part(part: &Value) -> Option<Content> {
    match part["type"].as_str()? {
        "text" => Some(Content::text(part["text"].as_str()?)),
        "image" => Some(Content::Image {
            data: part["source"]["data"].as_str()?.to_owned(),
            mime_type: part["source"]["media_type"].as_str()?.to_owned(),
        }),
        _ => None,
    }
}
