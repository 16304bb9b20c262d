//! The result of a server's tool as a result of a call.

use rmcp::model::{self, CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use tools::protocol::ResourceContents;
use tools::{Content, Json, ToolResult, head};

/// The text of a result without content. Models take an empty result for a failure.
const DONE: &str = "ok";

/// The text of a failure without content.
const FAILED: &str = "the tool failed and gave no reason";

/// The fields of a block that no model reads.
const OPTIONAL: [&str; 3] = ["annotations", "_meta", "icons"];

/// The maximum length of a block that cannot be read, in bytes of JSON.
const MAX_SHOWN: usize = 4 * 1024;

pub(super) fn tool_result(result: CallToolResult) -> ToolResult {
    let content = result.content.into_iter().map(block).collect();
    let is_error = result.is_error == Some(true);
    make_result(content, result.structured_content, is_error)
}

/// Returns a result that may have defects. Each block is read by itself, and one that cannot be read is shown as JSON.
pub(super) fn readable_result(result: Value) -> ToolResult {
    let mut fields = match result {
        Value::Object(fields)
            if ["content", "structuredContent", "isError"]
                .iter()
                .any(|key| fields.contains_key(*key)) =>
        {
            fields
        }
        Value::String(text) => return make_result(vec![Content::text(text)], None, false),
        other => return make_result(Vec::new(), Some(other), false),
    };
    // Some languages make lists of lists.
    let blocks = items(fields.remove("content").unwrap_or_default())
        .into_iter()
        .flat_map(items);
    let content = blocks.map(readable_block).collect();
    let is_error = fields
        .get("isError")
        .is_some_and(|flag| matches!(&*plain(flag).to_ascii_lowercase(), "true" | "1"));
    make_result(content, fields.remove("structuredContent"), is_error)
}

/// Returns the items of a list. A single item may stand for itself.
pub(super) fn items(list: Value) -> Vec<Value> {
    match list {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        item => vec![item],
    }
}

/// Returns the result of a call. The structured value is part of the content, because a model reads nothing else.
fn make_result(mut content: Vec<Content>, structured: Option<Value>, is_error: bool) -> ToolResult {
    if let Some(value) = structured
        .as_ref()
        .filter(|value| content.is_empty() || says_more(value, &content))
    {
        content.push(Content::text(value.to_string()));
    }
    if content.is_empty() {
        content.push(Content::text(if is_error { FAILED } else { DONE }));
    }
    ToolResult {
        content,
        structured: structured.map(Json::from),
        is_error,
        task: None,
    }
}

/// Returns true if a value is neither empty nor the same as the texts.
fn says_more(value: &Value, content: &[Content]) -> bool {
    let texts: Vec<_> = content.iter().filter_map(Content::as_text).collect();
    let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
    !is_empty && !are_same(value, &texts)
}

/// Returns true if texts are a value: one of them is its JSON, or each is one element. Servers put a value that is no object into the
/// field `result` of one.
fn are_same(value: &Value, texts: &[&str]) -> bool {
    if texts.iter().any(|text| is_same(value, text)) {
        return true;
    }
    match value {
        Value::Object(fields) if fields.len() == 1 => fields
            .get("result")
            .is_some_and(|result| are_same(result, texts)),
        Value::Array(elements) => {
            elements.len() == texts.len()
                && elements
                    .iter()
                    .zip(texts)
                    .all(|(element, text)| is_same(element, text))
        }
        _ => false,
    }
}

/// Converts a block that may have defects.
fn is_same(value: &Value, text: &str) -> bool {
    value == text || serde_json::from_str::<Value>(text).is_ok_and(|text| text == *value)
}

pub(super) fn readable_block(value: Value) -> Content {
    if let Some(read) = read_block(&value) {
        return read;
    }
    let mut block = match value {
        Value::Object(block) => block,
        Value::String(text) => return Content::text(text),
        other => return show_block(&other),
    };
    block.retain(|key, value| !value.is_null() && !OPTIONAL.contains(&key.as_str()));
    if let Some(Value::String(kind)) = block.get_mut("type") {
        kind.make_ascii_lowercase();
    }
    let kind = block.get("type").and_then(Value::as_str);
    match (kind, block.get("text"), block.get("uri")) {
        (None | Some("text"), Some(text), _) => return Content::text(plain(text)),
        (Some("resource_link"), _, Some(uri)) if !block.contains_key("name") => {
            let uri = uri.clone();
            block.insert("name".to_owned(), uri);
        }
        _ => {}
    }
    let block = Value::Object(block);
    read_block(&block).unwrap_or_else(|| show_block(&block))
}

/// Returns a text as it is, and another value as JSON.
pub(super) fn plain(value: &Value) -> String {
    let text = value.as_str();
    text.map_or_else(|| value.to_string(), str::to_owned)
}

fn read_block(value: &Value) -> Option<Content> {
    serde_json::from_value(value.clone()).ok().map(block)
}

/// Returns a block that cannot be read as a text, without its data.
pub(super) fn show_block(block: &Value) -> Content {
    let mut block = block.clone();
    for field in ["data", "blob"] {
        if let Some(data) = block.get_mut(field) {
            *data = json!(format!("[{} bytes]", data.as_str().map_or(0, str::len)));
        }
    }
    let json = block.to_string();
    let begin = head(&json, MAX_SHOWN);
    let cut = if begin.len() < json.len() { "…" } else { "" };
    Content::text(format!(
        "[a block of the server that is no content of MCP: {begin}{cut}]"
    ))
}

/// Converts a content block. Its annotations and metadata are for other programs than a model.
pub(super) fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::text(text.text),
        ContentBlock::Image(image) => Content::Image {
            data: base64(image.data),
            mime_type: image.mime_type,
        },
        ContentBlock::Audio(audio) => Content::Audio {
            data: base64(audio.data),
            mime_type: audio.mime_type,
        },
        ContentBlock::Resource(resource) => resource_content(resource.resource),
        ContentBlock::ResourceLink(link) => Content::ResourceLink {
            uri: link.uri,
            name: link.name,
            description: link.description,
            mime_type: link.mime_type,
            size: link.size,
        },
        other => Content::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}

/// Returns data in the base64 of the protocol. Servers also send a `data:` URL, lines, the alphabet of URLs, or no padding.
fn base64(data: String) -> String {
    let digits = match data.split_once(";base64,") {
        Some((kind, digits)) if kind.starts_with("data:") => digits,
        _ => &data,
    };
    let mut made = digits.replace('-', "+").replace('_', "/");
    made.retain(|digit| !digit.is_ascii_whitespace());
    if made.len() % 4 > 1 {
        made.extend(std::iter::repeat_n('=', 4 - made.len() % 4));
    }
    made
}

pub(super) fn resource_content(contents: model::ResourceContents) -> Content {
    let resource = match contents {
        model::ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => ResourceContents::Text {
            uri,
            mime_type,
            text,
        },
        model::ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => ResourceContents::Blob {
            uri,
            mime_type,
            blob,
        },
        other => return Content::text(serde_json::to_string(&other).unwrap_or_default()),
    };
    Content::Resource { resource }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: Value) -> String {
        readable_result(result).to_text()
    }

    fn content(blocks: Value) -> Vec<Content> {
        readable_result(json!({"content": blocks})).content
    }

    #[test]
    fn a_structured_value_reaches_the_model_unless_a_text_says_the_same() {
        let block = |text: &str| json!({"type": "text", "text": text});
        for (texts, structured, expected) in [
            (
                json!([block("2 items")]),
                json!({"items": ["a"]}),
                "2 items\n{\"items\":[\"a\"]}",
            ),
            (
                json!([block("{ \"items\": [\"a\"] }")]),
                json!({"items": ["a"]}),
                "{ \"items\": [\"a\"] }",
            ),
            (
                json!([block("it"), block("{\"n\":1}")]),
                json!({"n": 1}),
                "it\n{\"n\":1}",
            ),
            (json!([block("hello")]), json!({"result": "hello"}), "hello"),
            (json!([block("5")]), json!({"result": 5}), "5"),
            (
                json!([block("a"), block("{\"n\":1}")]),
                json!({"result": ["a", {"n": 1}]}),
                "a\n{\"n\":1}",
            ),
            (
                json!([block("a")]),
                json!({"result": ["a", "b"]}),
                "a\n{\"result\":[\"a\",\"b\"]}",
            ),
            (json!([block("a")]), json!(null), "a"),
            (json!([block("a")]), json!({}), "a"),
            (json!([]), json!([1]), "[1]"),
        ] {
            for is_error in [false, true] {
                let value =
                    json!({"content": texts, "structuredContent": structured, "isError": is_error});
                let result = readable_result(value.clone());
                assert_eq!(
                    (result.to_text().as_str(), result.is_error),
                    (expected, is_error)
                );
                assert_eq!(
                    result.structured.as_ref().map(|json| json.value().clone()),
                    Some(structured.clone())
                );
                assert_eq!(tool_result(serde_json::from_value(value).unwrap()), result);
            }
        }
    }

    #[test]
    fn a_defective_block_does_not_take_the_others_with_it() {
        let read = content(json!([
            {"type": "text", "text": "useful"}, {"type": "json", "json": {"a": 1}}, {"type": "image", "data": "aW1n"},
            {"type": "image", "data": "aW1n", "mimeType": "image/png", "annotations": {"audience": "all"}},
        ]));
        let texts: Vec<_> = read.iter().filter_map(Content::as_text).collect();
        assert_eq!(texts[0], "useful");
        assert!(texts[1].contains(r#""json":{"a":1}"#), "{texts:?}");
        assert!(
            texts[2].contains("[4 bytes]") && !texts[2].contains("aW1n"),
            "{texts:?}"
        );
        assert!(matches!(&read[3], Content::Image { .. }));
    }

    #[test]
    fn a_block_with_one_meaning_is_read() {
        let link = |uri: &str| Content::ResourceLink {
            uri: uri.to_owned(),
            name: uri.to_owned(),
            description: None,
            mime_type: None,
            size: None,
        };
        assert_eq!(
            content(json!([{"type": "resource_link", "uri": "file:///a"}])),
            [link("file:///a")]
        );
        for (blocks, expected) in [
            (json!(["plain"]), "plain"),
            (json!("plain"), "plain"),
            (json!({"type": "text", "text": "alone"}), "alone"),
            (
                json!([[{"type": "Text", "text": "nested"}], null]),
                "nested",
            ),
            (json!([{"text": "no type"}]), "no type"),
            (json!([{"type": "text", "text": {"n": 1}}]), r#"{"n":1}"#),
            (
                json!([{"type": "text", "text": "a", "annotations": "x", "_meta": 1}]),
                "a",
            ),
            (json!(null), "ok"),
        ] {
            assert_eq!(content(blocks), [Content::text(expected)]);
        }
    }

    #[test]
    fn data_of_an_image_is_read_in_each_form_of_base64() {
        for data in [
            "aW1n\r\nL1+/Cg==\n",
            "data:image/png;base64,aW1nL1+/Cg==",
            "aW1nL1-_Cg",
            "aW1nL1+/Cg==",
        ] {
            let read = content(json!([{"type": "image", "data": data, "mimeType": "image/png"}]));
            assert!(
                matches!(&read[0], Content::Image { data, .. } if data == "aW1nL1+/Cg=="),
                "{read:?}"
            );
        }
    }

    #[test]
    fn a_failure_is_one_however_the_flag_is_written() {
        for (flag, is_error) in [
            (json!("True"), true),
            (json!("1"), true),
            (json!(1), true),
            (json!("False"), false),
            (json!(null), false),
        ] {
            let result = json!({"content": [], "isError": flag});
            assert_eq!(readable_result(result).is_error, is_error);
        }
    }

    #[test]
    fn a_result_of_another_form_is_shown() {
        assert_eq!(text(json!({"items": [1]})), r#"{"items":[1]}"#);
        assert_eq!(text(json!("done")), "done");
        let long = content(json!([{"type": "x", "y": "ä".repeat(MAX_SHOWN)}]));
        assert!(long[0].as_text().unwrap().len() < MAX_SHOWN + 100);
    }
}
