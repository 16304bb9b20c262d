//! The content of a request in the JSON of the conventions: bounded, and with the secrets of calls masked.

use serde_json::{Value, json};
use tools::call::content::{self, MOST_BYTES, json_text};
use tools::protocol::{Message, Part, Role};

use super::open_span::finish_reason;
use crate::provider::{Request, Turn};
use crate::tool_set::ToolSet;

/// The most bytes of one message among others.
const MESSAGE_BYTES: usize = MOST_BYTES / 4;

/// The bytes that the note about older messages has at most.
const NOTE_BYTES: usize = 128;

/// Returns the system text. Returns `None` if the request has none.
pub(super) fn system_instructions(request: &Request<'_>) -> Option<String> {
    let system = request.messages.iter();
    let system = system.filter(|message| message.role == Role::System);
    let parts = system.flat_map(|message| parts(message, request.tools));
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| json_text(parts.into(), MOST_BYTES))
}

/// Returns the conversation without the system text: the newest messages that fit.
pub(super) fn input_messages(request: &Request<'_>) -> String {
    let messages: Vec<_> = request
        .messages
        .iter()
        .filter(|message| message.role != Role::System)
        .collect();
    let mut bytes = NOTE_BYTES;
    let texts = messages
        .iter()
        .rev()
        .map(|message| json_text(describe_message(message, request.tools), MESSAGE_BYTES));
    let texts = texts.take_while(|text| {
        bytes += text.len() + 1;
        bytes <= MOST_BYTES
    });
    let mut texts: Vec<_> = texts.collect();
    let left_out = messages.len() - texts.len();
    if left_out > 0 {
        let note = json!({"role": "system", "parts": [{"type": "left_out", "messages": left_out}]});
        texts.push(note.to_string());
    }
    texts.reverse();
    format!("[{}]", texts.join(","))
}

/// Returns the turn.
pub(super) fn output_messages(request: &Request<'_>, turn: &Turn) -> String {
    let mut message = describe_message(&turn.message, request.tools);
    message["finish_reason"] = finish_reason(&turn.stop).into();
    json_text(json!([message]), MOST_BYTES)
}

fn describe_message(message: &Message, tools: &ToolSet) -> Value {
    json!({"role": message.role, "parts": parts(message, tools).collect::<Value>()})
}

fn parts<'a>(message: &'a Message, tools: &'a ToolSet) -> impl Iterator<Item = Value> {
    message.parts.iter().filter_map(|part| match part {
        Part::Content(content) => content::part(content),
        Part::ToolCall(call) => {
            let arguments = tools.masked_arguments(call);
            Some(json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}))
        }
        Part::ToolResult { id, result, .. } => {
            Some(json!({"type": "tool_call_response", "id": id, "response": content::result(result)}))
        }
        Part::Reasoning { text, .. } if !text.is_empty() => Some(json!({"type": "reasoning", "content": text})),
        _ => None,
    })
}
