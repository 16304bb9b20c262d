//! Google's Gemini API.

use serde_json::{Map, Value, json};

use super::NameGrammar;
use super::definition::Definition;
use super::exchange::{Exchange, InvalidCall, Piece, WireResult, list, parse_call, text_field};
use super::format::Spec;
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, References};
use crate::{Content, ToolCall, ToolResult};

pub(super) const SPEC: Spec = Spec {
    name: "gemini",
    names: NameGrammar::Gemini,
    dialect: DIALECT,
    strict: None,
    definition,
    exchange: Exchange { read_calls, write_calls, read_results, write_results },
};

/// The keywords of `parametersJsonSchema`, from the reference of `GenerationConfig.responseJsonSchema`. A reference there has no
/// neighbours. Recursion is "unrolled to a limited degree", so it is unrolled here. Keys are those of the reference of
/// `FunctionDeclaration`: "must start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores with a
/// maximum length of 64".
const DIALECT: Dialect = Dialect {
    is_complete: false,
    keywords: Keywords::Only(&[
        "$ref", "additionalProperties", "anyOf", "description", "enum", "format", "items", "maxItems", "maximum",
        "minItems", "minimum", "prefixItems", "properties", "required", "title", "type",
    ]),
    references: References::AloneWithoutRecursion,
    booleans: false,
    containers: true,
    enums: Enums::StringsAndNumbers,
    formats: None,
    keys: KeyGrammar::Identifier,
    strict: false,
};

/// Begins the ids of calls to which the service gave none. They are not sent back.
const OWN_ID: &str = "gemini_call_";

fn definition(definition: &Definition<'_>) -> String {
    let Definition { name, description, parameters, .. } = definition;
    format!(r#"{{"name":{name},"description":{description},"parametersJsonSchema":{parameters}}}"#)
}

fn read_calls(content: &Value) -> Vec<Result<ToolCall, InvalidCall>> {
    let calls = list(content, "parts").filter_map(|part| part.get("functionCall"));
    let read = |(index, call): (usize, &Value)| {
        let id = call["id"].as_str().map_or_else(|| format!("{OWN_ID}{index}"), str::to_owned);
        let none = json!({});
        parse_call(id, text_field(call, "name"), call.get("args").unwrap_or(&none))
    };
    calls.enumerate().map(read).collect()
}

fn write_calls(calls: &[ToolCall]) -> Vec<Value> {
    let call = |call: &ToolCall| {
        let fields = [("name", Value::from(&*call.name)), ("args", call.arguments.value().clone())];
        json!({"functionCall": with_id(&call.id, fields)})
    };
    vec![json!({"role": "model", "parts": calls.iter().map(call).collect::<Vec<_>>()})]
}

/// A response is an object with `output` or `error`. Pictures follow it as parts of the same content.
fn write_results(results: &[WireResult]) -> Vec<Value> {
    let mut parts = Vec::new();
    for WireResult { id, name, result } in results {
        let (texts, pictures): (Vec<_>, Vec<_>) =
            Piece::all(result).into_iter().partition(|piece| matches!(piece, Piece::Text(_)));
        let key = if result.is_error { "error" } else { "output" };
        let response = json!({key: Piece::joined(&texts)});
        parts.push(json!({"functionResponse": with_id(id, [("name", Value::from(&**name)), ("response", response)])}));
        for picture in pictures {
            if let Piece::Image { data, mime_type } = picture {
                parts.push(json!({"inlineData": {"mimeType": mime_type, "data": data}}));
            }
        }
    }
    vec![json!({"role": "user", "parts": parts})]
}

fn read_results(content: &Value) -> Vec<WireResult> {
    let mut results: Vec<WireResult> = Vec::new();
    for part in list(content, "parts") {
        if let Some(response) = part.get("functionResponse") {
            let index = results.len();
            let id = response["id"].as_str().map_or_else(|| format!("{OWN_ID}{index}"), str::to_owned);
            let body = &response["response"];
            let (is_error, value) = match (body.get("error"), body.get("output")) {
                (Some(error), _) => (true, error),
                (None, output) => (false, output.unwrap_or(body)),
            };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let result = ToolResult { is_error, ..ToolResult::text(text) };
            results.push(WireResult::new(id, text_field(response, "name"), result));
        } else if let (Some(data), Some(last)) = (part.get("inlineData"), results.last_mut()) {
            let (data, mime_type) = (text_field(data, "data"), text_field(data, "mimeType"));
            last.result.content.push(Content::Image { data, mime_type });
        }
    }
    results
}

fn with_id<const N: usize>(id: &str, fields: [(&str, Value); N]) -> Value {
    let mut object: Map<_, _> = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    if !id.starts_with(OWN_ID) {
        object.insert("id".to_owned(), id.into());
    }
    Value::Object(object)
}
