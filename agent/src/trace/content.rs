//! The content of a request in the JSON of the conventions, with the secrets of calls masked.

use serde_json::{Value, json};
use tools::Content;
use tools::protocol::{Message, Part, ResourceContents, Role};

use super::open_span::finish_reason;
use crate::{Request, ToolSet, Turn};

/// Returns the system text. Returns `None` if the request has none.
pub(super) fn system_instructions(request: &Request<'_>) -> Option<Value> {
    let system = request.messages.iter().filter(|message| message.role == Role::System);
    let parts: Vec<_> = system.flat_map(|message| parts(message, request.tools)).collect();
    (!parts.is_empty()).then(|| parts.into())
}

/// Returns the conversation without the system text.
pub(super) fn input_messages(request: &Request<'_>) -> Value {
    let messages = request.messages.iter().filter(|message| message.role != Role::System);
    messages.map(|message| described(message, request.tools)).collect()
}

/// Returns the turn.
pub(super) fn output_messages(request: &Request<'_>, turn: &Turn) -> Value {
    let mut message = described(&turn.message, request.tools);
    message["finish_reason"] = finish_reason(&turn.stop).into();
    json!([message])
}

fn described(message: &Message, tools: &ToolSet) -> Value {
    json!({"role": message.role, "parts": parts(message, tools).collect::<Value>()})
}

fn parts<'a>(message: &'a Message, tools: &'a ToolSet) -> impl Iterator<Item = Value> {
    message.parts.iter().filter_map(|part| match part {
        Part::Content(content) => content_part(content),
        Part::ToolCall(call) => {
            let arguments = tools.masked_arguments(call);
            Some(json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}))
        }
        Part::ToolResult { id, result, .. } => {
            Some(json!({"type": "tool_call_response", "id": id, "response": result}))
        }
        Part::Reasoning { text, .. } if !text.is_empty() => Some(json!({"type": "reasoning", "content": text})),
        _ => None,
    })
}

fn content_part(content: &Content) -> Option<Value> {
    let blob = |modality: &str, mime_type: Option<&str>, data: &str| json!({"type": "blob", "modality": modality, "mime_type": mime_type, "content": data});
    Some(match content {
        Content::Text { text } => json!({"type": "text", "content": text}),
        Content::Image { data, mime_type } => blob("image", Some(mime_type), data),
        Content::Audio { data, mime_type } => blob("audio", Some(mime_type), data),
        Content::ResourceLink { uri, mime_type, .. } => {
            json!({"type": "uri", "modality": "document", "mime_type": mime_type, "uri": uri})
        }
        Content::Resource { resource: ResourceContents::Text { text, .. } } => json!({"type": "text", "content": text}),
        Content::Resource { resource: ResourceContents::Blob { blob: data, mime_type, .. } } => {
            blob("document", mime_type.as_deref(), data)
        }
        _ => return None,
    })
}
