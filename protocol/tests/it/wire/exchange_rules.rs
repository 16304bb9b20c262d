//! The rules of services for results, from their documentation and their errors.

use protocol::wire::{Format, WireResult};
use protocol::{Content, ToolResult};
use serde_json::{Value, json};

pub(crate) const PNG: &str = "iVBORw0KGgoAAAAN";

/// Returns the media types of images, with the beginning of a file.
pub(crate) fn images() -> [(&'static str, &'static str); 4] {
    [
        ("image/png", PNG),
        ("image/jpeg", "/9j/4AAQSkZJRgAB"),
        ("image/gif", "R0lGODlhAQABAIAA"),
        ("image/webp", "UklGRgAAAABXRUJQVlA4IA=="),
    ]
}

/// Returns the broken rules of messages with the results of one turn.
pub(crate) fn violations(
    format: Format,
    results: &[WireResult],
    messages: &[Value],
) -> Vec<&'static str> {
    let mut broken = Vec::new();
    let mut expect = |rule, holds: bool| {
        if !holds && !broken.contains(&rule) {
            broken.push(rule);
        }
    };
    let answered: Vec<_> = messages
        .iter()
        .flat_map(|message| ids(format, message))
        .collect();
    let asked: Vec<_> = results.iter().map(|result| &*result.id).collect();
    expect(
        "each call is answered once",
        format == Format::Mcp || answered == asked,
    );
    for message in messages {
        match format {
            Format::Anthropic => {
                let blocks = elements(&message["content"]);
                let is_result = |block: &Value| block["type"] == "tool_result";
                let first_other = blocks
                    .iter()
                    .position(|block| !is_result(block))
                    .unwrap_or(blocks.len());
                expect(
                    "results come first",
                    !blocks[first_other..].iter().any(|block| is_result(block)),
                );
                for result in blocks.iter().filter(|block| is_result(block)) {
                    let inner = elements(&result["content"]);
                    expect(
                        "a failed call has text alone",
                        result["is_error"] != true || has_text_alone(&inner),
                    );
                    expect(
                        "a failed call has content",
                        result["is_error"] != true || !inner.is_empty(),
                    );
                    inner
                        .iter()
                        .for_each(|block| block_rules(block, &mut expect));
                }
                blocks
                    .iter()
                    .for_each(|block| block_rules(block, &mut expect));
            }
            Format::OpenAiChat if message["role"] == "tool" => {
                expect("a tool message is text", message["content"].is_string());
                expect("no empty text", !is_blank(&message["content"]));
            }
            Format::OpenAiChat => {
                for part in elements(&message["content"]) {
                    expect(
                        "known images",
                        part["type"] == "text" || is_known_url(&part["image_url"]["url"]),
                    );
                }
            }
            Format::OpenAiResponses => {
                expect(
                    "no empty text",
                    !is_blank(&message["output"])
                        && !elements(&message["output"])
                            .iter()
                            .any(|part| is_blank(&part["text"])),
                );
                for part in elements(&message["output"]) {
                    expect(
                        "known images",
                        part["type"] == "input_text" || is_known_url(&part["image_url"]),
                    );
                }
            }
            Format::Gemini => {
                let parts = elements(&message["parts"]);
                expect("one part per call", parts.len() == results.len());
                expect(
                    "responses alone",
                    parts
                        .iter()
                        .all(|part| part.get("functionResponse").is_some()),
                );
                for image in parts
                    .iter()
                    .flat_map(|part| elements(&part["functionResponse"]["parts"]))
                {
                    let kind = image["inlineData"]["mimeType"].as_str().unwrap_or_default();
                    expect(
                        "known images",
                        ["image/png", "image/jpeg", "image/webp"].contains(&kind),
                    );
                }
            }
            Format::Ollama => {
                let is_known = |data: &&Value| images()[..2].iter().any(|(_, known)| data == known);
                expect(
                    "known images",
                    elements(&message["images"]).iter().all(is_known),
                );
                expect("content is text", message["content"].is_string());
            }
            _ => expect("content is a list", message["content"].is_array()),
        }
    }
    broken
}

fn block_rules(block: &Value, expect: &mut impl FnMut(&'static str, bool)) {
    expect(
        "no empty text",
        block["type"] != "text" || !is_blank(&block["text"]),
    );
    let source = &block["source"];
    let is_known = images()
        .iter()
        .any(|(kind, data)| source["media_type"] == *kind && source["data"] == *data);
    expect("known images", block["type"] != "image" || is_known);
}

fn ids(format: Format, message: &Value) -> Vec<&str> {
    let found: Vec<&Value> = match format {
        Format::OpenAiChat | Format::Ollama => vec![&message["tool_call_id"]],
        Format::OpenAiResponses => vec![&message["call_id"]],
        Format::Anthropic => elements(&message["content"])
            .into_iter()
            .map(|block| &block["tool_use_id"])
            .collect(),
        _ => elements(&message["parts"])
            .into_iter()
            .map(|part| &part["functionResponse"]["id"])
            .collect(),
    };
    found.into_iter().filter_map(Value::as_str).collect()
}

fn elements(list: &Value) -> Vec<&Value> {
    list.as_array().into_iter().flatten().collect()
}

fn has_text_alone(blocks: &[&Value]) -> bool {
    blocks.iter().all(|block| block["type"] == "text")
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.trim().is_empty())
}

fn is_known_url(url: &Value) -> bool {
    images()
        .iter()
        .any(|(kind, data)| *url == format!("data:{kind};base64,{data}"))
}

#[test]
fn a_planted_violation_of_each_rule_is_found() {
    let image = Content::Image {
        data: PNG.to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let result = |is_error| ToolResult {
        content: vec![Content::text("x"), image.clone()],
        is_error,
        ..ToolResult::default()
    };
    let plant = |format: Format, is_error, rule: &str, pointer: &str, change: Value| {
        let results = [
            WireResult::new("1", "f", result(is_error)),
            WireResult::new("2", "g", ToolResult::text("y")),
        ];
        let mut written = json!(format.write_results(&results));
        assert_eq!(
            violations(format, &results, written.as_array().unwrap()),
            Vec::<&str>::new(),
            "{format}"
        );
        *written
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{format} {pointer}")) = change;
        let broken = violations(format, &results, written.as_array().unwrap());
        assert!(broken.contains(&rule), "{format} {rule}: {broken:?}");
    };
    let (svg, blank) = (json!("image/svg+xml"), json!(" "));
    let block = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    plant(
        Format::Anthropic,
        true,
        "a failed call has text alone",
        "/0/content/0/content/0",
        block.clone(),
    );
    plant(
        Format::Anthropic,
        true,
        "a failed call has content",
        "/0/content/0/content",
        json!([]),
    );
    plant(
        Format::Anthropic,
        false,
        "results come first",
        "/0/content/0",
        block,
    );
    plant(
        Format::Anthropic,
        false,
        "no empty text",
        "/0/content/1/content/0/text",
        blank.clone(),
    );
    plant(
        Format::Anthropic,
        false,
        "known images",
        "/0/content/0/content/1/source/media_type",
        svg.clone(),
    );
    plant(
        Format::Anthropic,
        false,
        "each call is answered once",
        "/0/content/0/tool_use_id",
        json!("2"),
    );
    plant(
        Format::OpenAiChat,
        false,
        "a tool message is text",
        "/0/content",
        json!([]),
    );
    plant(
        Format::OpenAiChat,
        false,
        "no empty text",
        "/0/content",
        blank.clone(),
    );
    plant(
        Format::OpenAiChat,
        false,
        "known images",
        "/2/content/1/image_url/url",
        json!("data:image/bmp;base64,aGk="),
    );
    plant(
        Format::OpenAiResponses,
        false,
        "no empty text",
        "/1/output",
        blank,
    );
    plant(
        Format::OpenAiResponses,
        false,
        "known images",
        "/0/output/1/image_url",
        json!("data:image/bmp;base64,aGk="),
    );
    plant(
        Format::Gemini,
        false,
        "one part per call",
        "/0/parts",
        json!([]),
    );
    plant(
        Format::Gemini,
        false,
        "responses alone",
        "/0/parts/1",
        json!({"text": "y"}),
    );
    plant(
        Format::Gemini,
        false,
        "known images",
        "/0/parts/0/functionResponse/parts/0/inlineData/mimeType",
        svg,
    );
    plant(
        Format::Ollama,
        false,
        "known images",
        "/0/images/0",
        json!("aGk="),
    );
    plant(
        Format::Ollama,
        false,
        "content is text",
        "/0/content",
        json!(null),
    );
    plant(
        Format::Mcp,
        false,
        "content is a list",
        "/0/content",
        json!("x"),
    );
}
