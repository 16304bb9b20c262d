//! The result of a call for a client.

use rmcp::model::{CallToolResult, ContentBlock};
use tools::protocol::wire::{Format, WireResult};
use tools::{Content, Entry, Json, ToolResult};

/// Returns the result as a client reads it.
///
/// The structured value is for clients that know its schema, so only a tool with a result schema sends it. It is part of the content
/// otherwise. `rmcp` turns a value that is no object into text for clients of older revisions.
pub(super) fn call_tool_result(entry: &Entry, result: ToolResult) -> CallToolResult {
    let ToolResult {
        content,
        structured,
        is_error,
        ..
    } = result;
    let mut content: Vec<_> = content.into_iter().filter_map(block).collect();
    if let Some(structured) = structured.as_ref().filter(|_| content.is_empty()) {
        content.push(ContentBlock::text(structured.to_string()));
    }
    // Clients refuse a success without the structure that the tool promises, which may have been over the limit of results.
    let is_error = is_error || structured.is_none() && entry.tool().output.is_some();
    let mut written = if is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    // A failed call need not satisfy the schema.
    written.structured_content = structured
        .filter(|_| entry.tool().output.is_some() && !is_error)
        .map(Json::into_value);
    written
}

/// Returns a content block. Returns `None` for a kind that the protocol does not have.
fn block(content: Content) -> Option<ContentBlock> {
    match content {
        Content::Text { text } => Some(ContentBlock::text(text)),
        Content::Image { data, mime_type } => Some(ContentBlock::image(data, mime_type)),
        other => {
            let result = WireResult::new("", "", ToolResult::from(other));
            let mut written = Format::Mcp.write_results(&[result]);
            let block = written.first_mut()?.pointer_mut("/content/0")?.take();
            serde_json::from_value(block).ok()
        }
    }
}
