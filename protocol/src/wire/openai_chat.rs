//! OpenAI's Chat Completions API, and compatible services.

use serde_json::{Value, json};

use super::NameGrammar;
use super::definition::Definition;
use super::exchange::{
    Exchange, InvalidCall, Piece, WireResult, arguments_text, data_url, list, parse_call, text_field,
};
use super::format::Spec;
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, References};
use crate::{ToolCall, ToolResult};

pub(super) const SPEC: Spec = Spec {
    name: "openai-chat",
    names: NameGrammar::Provider,
    dialect: DIALECT,
    strict: Some(STRICT),
    definition,
    exchange: Exchange { read_calls, write_calls, read_results, write_results },
};

/// Every schema below a root that is an object without combinators: "schema must have type 'object' and not have
/// 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" (langchain-ai/langchainjs#9804). Objects need `properties`, arrays need
/// `items`. Gateways pass the schema to Anthropic, so keys are those of Anthropic.
pub(super) const DIALECT: Dialect = Dialect {
    is_complete: false,
    keywords: Keywords::AllBut(&[]),
    references: References::Any,
    booleans: false,
    containers: true,
    enums: Enums::Any,
    formats: None,
    keys: KeyGrammar::Plain,
    strict: false,
};

/// The subset for structured outputs, from OpenAI's guide "Supported schemas" (quoted in ai-dynamo/dynamo#15153). Patterns are left
/// out, because only some regular expressions are taken. Schemas per position and per pattern of keys are here so that they are a
/// reason against strict mode.
pub(super) const STRICT: Dialect = Dialect {
    keywords: Keywords::Only(&[
        "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "exclusiveMaximum",
        "exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems", "minimum", "multipleOf",
        "patternProperties", "prefixItems", "properties", "required", "title", "type",
    ]),
    references: References::Alone,
    containers: true,
    enums: Enums::Scalars,
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    strict: true,
    ..DIALECT
};

fn definition(definition: &Definition<'_>) -> String {
    let Definition { name, description, parameters, is_strict, .. } = definition;
    // Compatible services may not know `strict`. Absent, it is false.
    let strict = if *is_strict { r#","strict":true"# } else { "" };
    format!(
        r#"{{"type":"function","function":{{"name":{name},"description":{description},"parameters":{parameters}{strict}}}}}"#
    )
}

fn read_calls(message: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
    list(message, "tool_calls")
        .map(|call| {
            parse_call(text_field(call, "id"), text_field(&call["function"], "name"), &call["function"]["arguments"])
        })
        .collect()
}

fn write_calls(calls: &[ToolCall]) -> Vec<Value> {
    let call = |call: &ToolCall| {
        let function = json!({"name": call.name, "arguments": arguments_text(call)});
        json!({"id": call.id, "type": "function", "function": function})
    };
    vec![json!({"role": "assistant", "content": null, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})]
}

/// Tool messages hold text alone, so pictures follow in a message of the user, after all results.
fn write_results(results: &[WireResult]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut pictures = Vec::new();
    for WireResult { id, result, .. } in results {
        let mut texts = Vec::new();
        for piece in Piece::all(result) {
            match piece {
                Piece::Text(text) => texts.push(text),
                Piece::Image { data, mime_type } => {
                    texts.push("(the picture follows)".to_owned());
                    pictures.push(json!({"type": "text", "text": format!("Picture of the result of {id}:")}));
                    let url = data_url(&mime_type, &data);
                    pictures.push(json!({"type": "image_url", "image_url": {"url": url}}));
                }
            }
        }
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": Piece::marked(texts.join("\n"), result)}));
    }
    if !pictures.is_empty() {
        messages.push(json!({"role": "user", "content": pictures}));
    }
    messages
}

fn read_results(message: &Value) -> Vec<WireResult> {
    if message["role"] != "tool" {
        return Vec::new();
    }
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
    };
    vec![WireResult::new(text_field(message, "tool_call_id"), "", Piece::unmarked(ToolResult::text(text)))]
}
