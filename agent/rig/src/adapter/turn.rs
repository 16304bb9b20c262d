//! rig's answer in our words.

use agent::{Stop, Turn, Usage};
use rig_core::completion::{CompletionResponse, FinishReason};
use rig_core::message::{AssistantContent, DocumentSourceKind, Image, MimeType, ToolCall as RigCall};
use serde_json::{Value, json};
use tools::protocol::wire::WireNames;
use tools::protocol::{Message, Part, Role};
use tools::{Content, ToolCall};

/// Where reasoning keeps what rig made of it, and which model it came from.
pub(super) const BLOCK: &str = "block";
pub(super) const ORIGIN: &str = "origin";

pub(super) fn turn(mut answer: CompletionResponse, names: &WireNames) -> Turn {
    let stop = stop(&answer);
    let last = answer.choice.len().saturating_sub(1);
    let mut parts = Vec::new();
    let mut faults = Vec::new();
    for (index, block) in std::mem::take(&mut answer.choice).into_iter().enumerate() {
        match block {
            AssistantContent::Text(text) if !text.text.is_empty() => parts.push(Part::Content(text.text.into())),
            AssistantContent::Text(_) => {}
            AssistantContent::ToolCall(call) => {
                faults.push(fault(&call, &stop, index == last));
                parts.push(Part::ToolCall(tool_call(call, names)));
            }
            AssistantContent::Image(image) => parts.extend(picture(&image).map(Part::Content)),
            other => parts.push(Part::Reasoning { text: readable(&other), opaque: sealed(&answer, &other) }),
        }
    }
    // Anthropic explains a refusal outside of the content. rig has errors of its own, which are no words of a service.
    let explains = answer.error.as_ref().filter(|_| answer.finish_reason() == Some(FinishReason::ContentFilter));
    if let Some(reason) = explains.filter(|_| !parts.iter().any(|part| matches!(part, Part::Content(_)))) {
        parts.push(Part::Content(reason.as_str().into()));
    }
    let usage = answer.usage.is_reported().then(|| Usage {
        input_tokens: answer.usage.input_tokens.unwrap_or_default(),
        output_tokens: answer.usage.output_tokens.unwrap_or_default(),
    });
    let mut turn = Turn::new(Message { role: Role::Assistant, parts }).with_stop(stop);
    turn.usage = usage;
    let faults = faults.into_iter().enumerate().filter_map(|(position, fault)| Some((position, fault?)));
    faults.fold(turn, |turn, (position, reason)| turn.with_fault(position, reason))
}

/// Returns a refusal only if the service calls it one. A reply without a reason to stop has ended by itself.
fn stop(answer: &CompletionResponse) -> Stop {
    let has_calls = answer.tool_calls().next().is_some();
    let refusal = answer.raw.pointer("/choices/0/message/refusal").and_then(Value::as_str);
    match answer.finish_reason() {
        _ if refusal.is_some_and(|text| !text.is_empty()) => Stop::Refusal,
        Some(FinishReason::Length) => Stop::Length,
        Some(FinishReason::ContentFilter) => Stop::Refusal,
        Some(FinishReason::Other(reason)) if reason == "refusal" => Stop::Refusal,
        Some(FinishReason::Other(reason)) => Stop::Other(reason),
        _ if has_calls => Stop::Calls,
        _ => Stop::Answer,
    }
}

/// Why a call is not run.
fn fault(call: &RigCall, stop: &Stop, is_last: bool) -> Option<String> {
    let name = call.function.name.as_str();
    match stop {
        // Some services end arguments that were cut off so that they can be parsed.
        Stop::Length if is_last || call.function.invalid_arguments.is_some() => Some(format!(
            "the call of {name} was cut off by the limit of the model's output and was not run; call again with less text, \
             in several calls where it must be long"
        )),
        Stop::Refusal => Some(format!("the model's turn was stopped, so the call of {name} was not run")),
        _ if call.function.invalid_arguments.is_some() => Some(format!(
            "the arguments of {name} are no JSON object, so the call was not run; call again with one JSON object that \
             fits the tool's schema"
        )),
        _ => None,
    }
}

fn tool_call(call: RigCall, names: &WireNames) -> ToolCall {
    let spelling = call.function.name.as_str();
    // A name that is nobody's stays as it came: the session tells the model which ones there are.
    let name = names.tool(spelling).map_or(spelling, |name| name.as_str());
    let id = call.id.provider().map(|id| id.as_str().to_owned()).unwrap_or_default();
    let arguments = match call.function.invalid_arguments {
        Some(text) => Value::String(text),
        None => Value::Object(call.function.arguments),
    };
    ToolCall::new(id, name, arguments)
}

fn readable(block: &AssistantContent) -> String {
    match block {
        AssistantContent::Reasoning(reasoning) if !reasoning.redacted => reasoning.text.clone(),
        _ => String::new(),
    }
}

fn sealed(answer: &CompletionResponse, block: &AssistantContent) -> Value {
    json!({ORIGIN: answer.origin, BLOCK: block})
}

fn picture(image: &Image) -> Option<Content> {
    let (DocumentSourceKind::Base64(data), Some(kind)) = (&image.data, &image.media_type) else { return None };
    Some(Content::Image { data: data.clone(), mime_type: kind.to_mime_type().to_owned() })
}
