//! Google's Gemini API.

use serde_json::{Value, json};

use super::Format;
use super::call::{ReadCall, WireResult, arguments_object, list, parse_call, text_field};
use super::definition::{Fields, Parts};
use super::piece::Piece;
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, References};
use crate::call::ToolCall;

/// The schemas of `parametersJsonSchema`. Google documents no keywords for it, but those of
/// [`responseJsonSchema`](https://googleapis.github.io/python-genai/genai.html#genai.types.GenerateContentConfig.response_json_schema),
/// which the [same releases](https://github.com/google-gemini/gemini-cli/pull/4176) brought.
///
/// - `$id` and `$anchor` are left out, because no reference needs them, and `oneOf`, because it is read as `anyOf`.
/// - `maxItems` is left out, because a request is refused if its sum is
///   [above 960](https://github.com/googleapis/python-genai/issues/2170).
/// - A reference has no other keywords beside it. Recursion "is unrolled to a limited degree", so it is unrolled here.
/// - A listed text is [not empty](https://github.com/google-gemini/gemini-cli/issues/3401).
/// - Arrays have [`items`](https://github.com/cline/cline/issues/7339).
/// - Keys are those of [`parameters`](https://googleapis.github.io/python-genai/genai.html#genai.types.FunctionDeclaration.parameters):
///   "must start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores with a maximum length of 64".
pub(super) const DIALECT: Dialect = Dialect {
    keywords: Keywords::Only(
        "$ref additionalProperties anyOf description enum format items \
        maximum minItems minimum prefixItems properties required title type",
    ),
    references: References::AloneWithoutRecursion,
    enums: Enums::TextsAndNumbers,
    keys: KeyGrammar::Identifier,
    ..Dialect::PLAIN
};

/// The types of images in
/// ["Multimodal function responses"](https://ai.google.dev/gemini-api/docs/function-calling#multimodal-function-responses).
pub(super) const IMAGES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];

/// Begins the ids of calls that the service sent without one. They are not sent back.
const OWN_ID: &str = "gemini_call_";

pub(super) fn definition(parts: Parts<'_>) -> Fields {
    parts.fields("parametersJsonSchema")
}

pub(super) fn read_calls(content: &Value) -> Vec<ReadCall<'_>> {
    let calls = list(content, "parts").filter_map(|part| Some((part, part.get("functionCall")?)));
    calls
        .enumerate()
        .map(|(index, (part, call))| {
            let own = call["id"].as_str().map(str::to_owned);
            let id = own.unwrap_or_else(|| format!("{OWN_ID}{index}"));
            parse_call(part, id, text_field(call, "name"), &call["args"])
        })
        .collect()
}

pub(super) fn write_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "args": arguments_object(call)});
    json!({"functionCall": with_id(&call.id, function)})
}

pub(super) fn message(calls: Vec<Value>) -> Vec<Value> {
    vec![json!({"role": "model", "parts": calls})]
}

/// Writes each response as an object
/// [with `output` or `error`](https://googleapis.github.io/python-genai/genai.html#genai.types.FunctionResponse.response). Its images are
/// [in its `parts`](https://ai.google.dev/gemini-api/docs/function-calling#multimodal-function-responses): other parts beside it are
/// [refused](https://github.com/google-gemini/gemini-cli/pull/16137).
pub(super) fn write_results(results: &[WireResult]) -> Vec<Value> {
    let parts = results.iter().map(|WireResult { id, name, result }| {
        let (text, images) = Piece::split(Format::Gemini.pieces(id, result).0);
        let key = if result.is_error { "error" } else { "output" };
        let mut response = json!({"name": name, "response": {key: text}});
        if !images.is_empty() {
            let parts = images.iter().map(
                |image| json!({"inlineData": {"mimeType": image.media_type, "data": image.data}}),
            );
            response["parts"] = parts.collect();
        }
        json!({"functionResponse": with_id(id, response)})
    });
    vec![json!({"role": "user", "parts": parts.collect::<Vec<_>>()})]
}

fn with_id(id: &str, mut value: Value) -> Value {
    if !id.is_empty() && !id.starts_with(OWN_ID) {
        value["id"] = id.into();
    }
    value
}
