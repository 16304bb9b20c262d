//! Reads results as a service reads them.

use protocol::wire::{Format, WireResult};
use protocol::{Content, ToolResult};
use serde_json::Value;

/// Returns the results in a message or item. A service without a field for failures does not tell which calls failed: their results
/// read as successful, with the text that the model was sent.
pub(crate) fn read_results(format: Format, message: &Value) -> Vec<WireResult> {
    match format {
        Format::OpenAiChat => from_tool_message(message, "", |_| None),
        Format::Ollama => from_tool_message(message, "tool_name", image_from_base64),
        Format::OpenAiResponses => list(message)
            .filter(|item| item["type"] == "function_call_output")
            .map(from_output_item)
            .collect(),
        Format::Anthropic => list(&message["content"])
            .filter(|block| block["type"] == "tool_result")
            .map(from_result_block)
            .collect(),
        Format::Gemini => list(&message["parts"])
            .filter_map(|part| part.get("functionResponse"))
            .map(from_function_response)
            .collect(),
        _ => message
            .get("content")
            .map(|_| from_call_result(message))
            .into_iter()
            .collect(),
    }
}

fn from_tool_message(
    message: &Value,
    name: &str,
    read_image: fn(&str) -> Option<Content>,
) -> Vec<WireResult> {
    if message["role"] != "tool" {
        return Vec::new();
    }
    let images: Vec<_> = list(&message["images"])
        .filter_map(|data| read_image(data.as_str()?))
        .collect();
    let text = Some(text(&message["content"])).filter(|text| !text.is_empty() || images.is_empty());
    let content: Vec<_> = text.map(Content::text).into_iter().chain(images).collect();
    vec![WireResult::new(
        text_of(message, "tool_call_id"),
        text_of(message, name),
        content_result(content, false),
    )]
}

fn from_output_item(item: &Value) -> WireResult {
    let content = match &item["output"] {
        Value::Array(parts) => parts.iter().filter_map(read_part).collect(),
        other => vec![Content::text(text(other))],
    };
    WireResult::new(text_of(item, "call_id"), "", content_result(content, false))
}

fn read_part(part: &Value) -> Option<Content> {
    if part["type"] == "input_text" {
        return Some(Content::text(part["text"].as_str()?));
    }
    let (media_type, data) = part["image_url"]
        .as_str()?
        .strip_prefix("data:")?
        .split_once(";base64,")?;
    Some(image(media_type, data))
}

fn from_result_block(block: &Value) -> WireResult {
    let read = |block: &Value| match block["type"].as_str()? {
        "text" => Some(Content::text(block["text"].as_str()?)),
        _ => Some(image(
            block["source"]["media_type"].as_str()?,
            block["source"]["data"].as_str()?,
        )),
    };
    let content = list(&block["content"]).filter_map(read).collect();
    WireResult::new(
        text_of(block, "tool_use_id"),
        "",
        content_result(content, block["is_error"] == true),
    )
}

fn from_function_response(response: &Value) -> WireResult {
    let body = &response["response"];
    let error = body.get("error");
    let text = text(error.or_else(|| body.get("output")).unwrap_or(body));
    let images: Vec<_> = list(&response["parts"])
        .filter_map(|part| part.get("inlineData"))
        .map(|data| image(&text_of(data, "mimeType"), &text_of(data, "data")))
        .collect();
    let text = Some(text).filter(|text| !text.is_empty() || images.is_empty());
    let content = text.map(Content::text).into_iter().chain(images).collect();
    WireResult::new(
        text_of(response, "id"),
        text_of(response, "name"),
        content_result(content, error.is_some()),
    )
}

fn from_call_result(result: &Value) -> WireResult {
    let read = |content: &Value| {
        let mut content = content.clone();
        rename_media_type(Some(&mut content));
        rename_media_type(content.get_mut("resource"));
        serde_json::from_value(content).ok()
    };
    let content = list(&result["content"]).filter_map(read).collect();
    let structured = result.get("structuredContent").cloned().map(Into::into);
    WireResult::new(
        "",
        "",
        ToolResult {
            structured,
            ..content_result(content, result["isError"] == true)
        },
    )
}

fn rename_media_type(block: Option<&mut Value>) {
    if let Some(Value::Object(fields)) = block
        && let Some(media_type) = fields.remove("mimeType")
    {
        fields.insert("mime_type".to_owned(), media_type);
    }
}

fn content_result(content: Vec<Content>, is_error: bool) -> ToolResult {
    ToolResult {
        content,
        is_error,
        ..ToolResult::default()
    }
}

fn image_from_base64(data: &str) -> Option<Content> {
    let signatures = [("image/png", "iVBORw0KGgo"), ("image/jpeg", "/9j/")];
    let (media_type, _) = signatures
        .into_iter()
        .find(|(_, start)| data.starts_with(start))?;
    Some(image(media_type, data))
}

fn image(mime_type: &str, data: &str) -> Content {
    Content::Image {
        data: data.to_owned(),
        mime_type: mime_type.to_owned(),
    }
}

/// Returns a text, the texts of a list of parts, or other JSON as text.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    }
}

fn text_of(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(items) => items.iter(),
        Value::Null => [].iter(),
        one => std::slice::from_ref(one).iter(),
    }
}
