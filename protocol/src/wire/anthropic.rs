//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::Format;
use super::call::{ReadCall, WireResult, arguments_object, list, parse_call, text_field};
use super::definition::{Fields, Parts};
use super::piece::{Image, Piece};
use super::schema::{Dialect, Enums, KeyGrammar, Keywords, Patterns, References, StrictRules};
use crate::call::ToolCall;

/// The schemas of tools that are not strict: [draft 2020-12](https://platform.claude.com/docs/en/api/messages/create), with limits.
///
/// - The root is an object: ["input_schema does not support oneOf, allOf, or anyOf at the top
///   level"](https://github.com/anthropics/claude-code/issues/40075).
/// - Keys of properties: ["Property keys should match pattern
///   '^[a-zA-Z0-9_.-]{1,64}$'"](https://github.com/beautyfree/appstore-connect-mcp/issues/2).
///
/// Missing `properties` and `items` and boolean schemas are written out for services that pass the schema on to other models.
pub(super) const DIALECT: Dialect = Dialect {
    keys: KeyGrammar::Plain,
    ..Dialect::PLAIN
};

/// The schemas of strict tools: the guide
/// ["JSON Schema limitations"](https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations) has
/// no recursion, no bounds, no lengths, no `minItems` above 1 and no compound values in `enum`. Its "Pattern support" lists the
/// features of regular expressions; patterns with others are removed, because they "may result in 400 errors".
pub(super) const STRICT: Dialect = Dialect {
    keywords: Keywords::Only(
        "$ref additionalProperties anyOf const default description enum \
        format items minItems pattern patternProperties prefixItems properties required title \
        type",
    ),
    references: References::AloneWithoutRecursion,
    enums: Enums::Scalars,
    formats: Some("date-time time date duration email hostname uri ipv4 ipv6 uuid"),
    patterns: Patterns::Simple,
    strict: Some(StrictRules {
        requires_all: false,
        min_items: Some(1),
        limits: None,
    }),
    ..DIALECT
};

/// The types of images in the [reference](https://platform.claude.com/docs/en/api/messages/create) of `Base64ImageSource`.
pub(super) const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Sends examples as [`input_examples`](https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use). One example
/// that does not match the schema fails the request, and gateways such as
/// [LiteLLM with Vertex AI](https://docs.litellm.ai/docs/providers/anthropic_tool_input_examples) refuse the field.
pub(super) fn definition(parts: Parts<'_>) -> Fields {
    let mut fields = parts.fields("input_schema");
    if !parts.examples.is_empty() {
        fields.push(("input_examples", parts.examples.to_vec().into()));
    }
    if parts.is_strict {
        fields.push(("strict", true.into()));
    }
    fields
}

pub(super) fn read_calls(message: &Value) -> Vec<ReadCall<'_>> {
    list(message, "content")
        .filter(|block| block["type"] == "tool_use")
        .map(|block| {
            let id = text_field(block, "id");
            let name = text_field(block, "name");
            parse_call(block, id, name, &block["input"])
        })
        .collect()
}

pub(super) fn write_call(call: &ToolCall) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_object(call)})
}

pub(super) fn message(calls: Vec<Value>) -> Vec<Value> {
    vec![json!({"role": "assistant", "content": calls})]
}

/// Puts images that follow after all results, because
/// [results come first](https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use#handling-tool-use-and-tool-result-content-blocks).
pub(super) fn write_results(results: &[WireResult]) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut following = Vec::new();
    for WireResult { id, result, .. } in results {
        let (pieces, images) = Format::Anthropic.pieces(id, result);
        let content: Vec<_> = pieces.iter().map(content_block).collect();
        let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if result.is_error {
            block["is_error"] = true.into();
        }
        blocks.push(block);
        following.extend(images.iter().map(content_block));
    }
    blocks.append(&mut following);
    vec![json!({"role": "user", "content": blocks})]
}

fn content_block(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image(Image { media_type, data }) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
    }
}
