//! The parts of a request, in each of the five formats.

use serde_json::Value;
use tools::protocol::wire::{Format, WireCall, WireResult};
use tools::{Content, ToolCall};

use super::read_results::read_results;

/// The definitions of a request.
pub(crate) fn definitions(format: Format, body: &Value) -> Vec<Value> {
    let tools = if format == Format::Gemini {
        &body["tools"][0]["functionDeclarations"]
    } else {
        &body["tools"]
    };
    tools.as_array().unwrap().clone()
}

/// The messages of a request, or its items.
pub(crate) fn messages(format: Format, body: &Value) -> Vec<Value> {
    let place = match format {
        Format::OpenAiResponses => "input",
        Format::Gemini => "contents",
        _ => "messages",
    };
    body[place].as_array().unwrap().clone()
}

/// The calls that a request repeats.
pub(crate) fn calls(format: Format, body: &Value) -> Vec<ToolCall> {
    let messages = messages(format, body);
    let calls = messages
        .iter()
        .flat_map(|message| format.read_calls(message));
    calls
        .map(|call: Result<WireCall, _>| call.unwrap().call)
        .collect()
}

/// The results of a request.
pub(crate) fn results(format: Format, body: &Value) -> Vec<WireResult> {
    messages(format, body)
        .iter()
        .flat_map(|message| read_results(format, message))
        .collect()
}

/// The user's texts and images after the results of a request, in order.
pub(crate) fn after_results(format: Format, body: &Value) -> Vec<Content> {
    let mut found = Vec::new();
    collect(
        &messages(format, body).into_iter().skip(2).collect(),
        &mut found,
    );
    found
}

/// Collects the texts and images of any format, in the order of the JSON.
fn collect(value: &Value, found: &mut Vec<Content>) {
    let image = |data: &str| Content::Image {
        data: data.to_owned(),
        mime_type: "image/png".to_owned(),
    };
    match value {
        Value::String(text) => match text.strip_prefix("data:image/png;base64,") {
            Some(data) => found.push(image(data)),
            None if text.starts_with("iVBORw0KGgo") => found.push(image(text)),
            None => found.push(Content::text(text)),
        },
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, found)),
        _ => {}
    }
}
