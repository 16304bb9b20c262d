//! OpenAI's Chat Completions API, and compatible services.

use serde_json::{Value, json};

use super::Format;
use super::call::{ReadCall, WireResult, list, parse_call, text_field};
use super::definition::{Fields, Parts};
use super::piece::Piece;
use super::schema::{
    Dialect, Enums, KeyGrammar, Keywords, Patterns, References, SchemaLimits, StrictRules,
};
use crate::call::ToolCall;

/// The schemas of functions that are not strict, also of the Responses API.
///
/// - The root is an object: ["schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
///   level"](https://github.com/langchain-ai/langchainjs/issues/9804), and [no 'const'](https://github.com/goruck/home-generative-agent/pull/545).
/// - Arrays have `items`: ["array schema missing
///   items"](https://github.com/streamnative/streamnative-mcp-server/issues/26).
/// - Regular expressions have no lookaround: ["regex lookaround is not supported"](https://github.com/vercel/ai/pull/21037). Nor have
///   they [classes of Unicode](https://github.com/lidge-jun/opencodex/pull/4072). One such pattern fails the request.
/// - OpenAI documents no grammar of property keys. Keys are Anthropic's, because compatible services such as
///   [LiteLLM](https://docs.litellm.ai/docs/providers/anthropic) send the schema to Claude.
///
/// Missing `properties` and boolean schemas are written out for services that parse schemas into structures, such as Ollama.
pub(super) const DIALECT: Dialect = Dialect {
    patterns: Patterns::Regular,
    keys: KeyGrammar::Plain,
    ..Dialect::PLAIN
};

/// The schemas of strict functions: the subset in the guide
/// ["Supported schemas"](https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
///
/// Schemas per position and per pattern of keys are listed here because they are a reason against strict mode.
pub(super) const STRICT: Dialect = Dialect {
    keywords: Keywords::Only(
        "$ref additionalProperties anyOf const description enum \
        exclusiveMaximum exclusiveMinimum format items maxItems maximum minItems minimum \
        multipleOf pattern patternProperties prefixItems properties required title type",
    ),
    references: References::Alone,
    containers: true,
    enums: Enums::Scalars,
    formats: Some("date-time time date duration email hostname ipv4 ipv6 uuid"),
    strict: Some(StrictRules {
        requires_all: true,
        min_items: None,
        limits: Some(SchemaLimits {
            levels: 10,
            properties: 5_000,
            enum_values: 1_000,
            characters: 120_000,
        }),
    }),
    ..DIALECT
};

/// The types of images in the guide ["Images and vision"](https://platform.openai.com/docs/guides/images-vision). Animations are not
/// told apart.
pub(super) const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// States `strict` only if it is true. Absent, it is
/// [false](https://platform.openai.com/docs/api-reference/chat/create), and some compatible services
/// [refuse the field](https://github.com/earendil-works/pi/issues/1172).
pub(super) fn definition(parts: Parts<'_>) -> Fields {
    let mut fields = parts.fields("parameters");
    if parts.is_strict {
        fields.push(("strict", true.into()));
    }
    fields
}

/// Skips the calls of `custom` tools, which have no `function`.
pub(super) fn read_calls(message: &Value) -> Vec<ReadCall<'_>> {
    list(message, "tool_calls")
        .filter_map(|call| {
            let function = call.get("function")?;
            let id = text_field(call, "id");
            let name = text_field(function, "name");
            Some(parse_call(call, id, name, &function["arguments"]))
        })
        .collect()
}

pub(super) fn write_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

pub(super) fn message(calls: Vec<Value>) -> Vec<Value> {
    vec![json!({"role": "assistant", "content": null, "tool_calls": calls})]
}

/// Writes tool messages. Images follow in a message of the user, after all results.
pub(super) fn write_results(results: &[WireResult]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut following = Vec::new();
    for WireResult { id, result, .. } in results {
        let (pieces, images) = Format::OpenAiChat.pieces(id, result);
        let (text, _) = Piece::split(pieces);
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
        following.extend(images.into_iter().map(|piece| match piece {
            Piece::Text(text) => json!({"type": "text", "text": text}),
            Piece::Image(image) => {
                json!({"type": "image_url", "image_url": {"url": image.to_url()}})
            }
        }));
    }
    if !following.is_empty() {
        messages.push(json!({"role": "user", "content": following}));
    }
    messages
}
