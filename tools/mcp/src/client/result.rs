//! The result of a server's tool as a result of a call.

use rmcp::model::{self, CallToolResult, ContentBlock};
use tools::protocol::ResourceContents;
use tools::{Content, Json, ToolResult};

/// The text of a result without content. Models take an empty result for a failure.
const DONE: &str = "ok";

/// The text of a failure without content.
const FAILED: &str = "the tool failed and gave no reason";

pub(super) fn tool_result(result: CallToolResult) -> ToolResult {
    let is_error = result.is_error == Some(true);
    let structured = result.structured_content.map(Json::from);
    let mut content: Vec<_> = result.content.into_iter().map(block).collect();
    if content.is_empty() {
        let text = structured.as_ref().map(|value| value.value().to_string());
        content.push(Content::text(text.unwrap_or_else(|| if is_error { FAILED } else { DONE }.to_owned())));
    }
    ToolResult { content, structured, is_error, task: None }
}

/// Converts a content block. Its annotations and metadata are for other programs than a model.
pub(super) fn block(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::text(text.text),
        ContentBlock::Image(image) => Content::Image { data: image.data, mime_type: image.mime_type },
        ContentBlock::Audio(audio) => Content::Audio { data: audio.data, mime_type: audio.mime_type },
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

pub(super) fn resource_content(contents: model::ResourceContents) -> Content {
    match contents {
        model::ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
            Content::Resource { resource: ResourceContents::Text { uri, mime_type, text } }
        }
        model::ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            Content::Resource { resource: ResourceContents::Blob { uri, mime_type, blob } }
        }
        other => Content::text(serde_json::to_string(&other).unwrap_or_default()),
    }
}
