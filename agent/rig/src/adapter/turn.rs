//! Converts rig's response to a turn.

use agent::{ProviderError, StopReason, Turn, Usage, WireToolSet};
use rig_core::completion::{CompletionResponse, FinishReason};
use rig_core::message::{
    AssistantContent, DocumentSourceKind, Image, MimeType, ToolCall as RigCall,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tools::protocol::{Message, Part, Role};
use tools::{Content, Json, ToolCall};

use super::exact_arguments::unmarked;
use super::streamed_arguments::StreamedArguments;
use super::written_thoughts::WrittenThoughts;
use super::{Api, fields};
use crate::retry::Failure;

/// The keys of opaque reasoning data: rig's block, or the fields beside the next block, and the model that made it.
pub(super) const BLOCK: &str = "block";
pub(super) const BESIDE: &str = "beside";
pub(super) const ORIGIN: &str = "origin";

pub(super) fn turn(
    api: Api,
    mut response: CompletionResponse,
    mut streamed: StreamedArguments,
    tools: &WireToolSet,
) -> Turn {
    let stop = stop(api, &response);
    let mut parts = Vec::new();
    let mut faults = Vec::new();
    for mut block in std::mem::take(&mut response.choice) {
        let answer = match &block {
            AssistantContent::Text(text) => {
                let (thoughts, answer) = WrittenThoughts::separated(&text.text);
                if !thoughts.is_empty() {
                    parts.push(Part::Reasoning {
                        text: thoughts,
                        opaque: Value::Null,
                    });
                }
                answer
            }
            _ => String::new(),
        };
        let is_text = matches!(&block, AssistantContent::Text(text) if !text.text.is_empty());
        let is_silent = matches!(&block, AssistantContent::Text(_)) && answer.is_empty();
        if !is_silent && let Some(fields) = fields::take_beside(api, &mut block) {
            let opaque = json!({ORIGIN: response.origin, BESIDE: fields});
            parts.push(Part::Reasoning {
                text: String::new(),
                opaque,
            });
        }
        match block {
            AssistantContent::Text(_) if !is_silent => parts.push(Part::Content(answer.into())),
            AssistantContent::Text(_) if is_text => {}
            // That of Gemini has a signature and is kept whole. Other services refuse an empty text.
            AssistantContent::Text(_) if api != Api::Gemini => {}
            AssistantContent::ToolCall(mut call) => {
                let (arguments, invalid) = arguments(&mut call, &mut streamed);
                faults.push(fault(
                    call.function.name.as_str(),
                    invalid.as_deref(),
                    &stop,
                ));
                parts.push(Part::ToolCall(tools.read_call(tool_call(call, arguments))));
            }
            AssistantContent::Image(image) => parts.extend(picture(&image).map(Part::Content)),
            other => parts.push(Part::Reasoning {
                text: readable(&other),
                opaque: opaque(&response, &other),
            }),
        }
    }
    // Anthropic explains a refusal outside the content. Other errors in this field come from rig, not from the service.
    let explains = response
        .error
        .as_ref()
        .filter(|_| response.finish_reason() == Some(FinishReason::ContentFilter));
    if let Some(reason) =
        explains.filter(|_| !parts.iter().any(|part| matches!(part, Part::Content(_))))
    {
        parts.push(Part::Content(reason.as_str().into()));
    }
    let usage = response.usage.is_reported().then(|| Usage {
        input_tokens: response.usage.input_tokens.unwrap_or_default(),
        output_tokens: response.usage.output_tokens.unwrap_or_default(),
        cached_input_tokens: response.usage.cached_input_tokens.unwrap_or_default(),
        cache_write_tokens: response
            .usage
            .cache_creation_input_tokens
            .unwrap_or_default(),
    });
    // Gemini spells the field its own way.
    let model = ["model", "modelVersion"]
        .iter()
        .find_map(|field| response.raw.get(field)?.as_str());
    let model = model.filter(|model| !model.is_empty()).map(str::to_owned);
    let mut turn = Turn::new(Message {
        role: Role::Assistant,
        parts,
    });
    turn.stop = stop;
    turn.usage = usage;
    turn.model = model;
    turn.response_id = response.response_id().map(str::to_owned);
    let faults = faults
        .into_iter()
        .enumerate()
        .filter_map(|(position, fault)| Some((position, fault?)));
    faults.fold(turn, |turn, (position, reason)| {
        turn.with_fault(position, reason)
    })
}

/// Returns an error in place of a turn that the service gave up, because it cannot read what the model wrote.
pub(super) fn complete(api: Api, turn: Turn) -> Result<Turn, Failure> {
    match &turn.stop {
        StopReason::Other(reason)
            if UNREADABLE.contains(&reason.as_str()) && turn.message.calls().next().is_none() =>
        {
            Err(Failure::unreadable_turn(api.name(), reason))
        }
        // OpenRouter's reason for a reply that broke off behind it.
        StopReason::Other(reason) if reason.eq_ignore_ascii_case("error") => {
            let (provider, message) = (
                api.name().to_owned(),
                "the service ended the reply with an error".to_owned(),
            );
            Err(Failure {
                error: ProviderError::Malformed { provider, message },
                is_transient: true,
            })
        }
        _ => Ok(turn),
    }
}

/// Gemini's reasons for a turn that it gave up.
const UNREADABLE: [&str; 5] = [
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
];

/// The spellings of an end by the model itself that rig does not know, in lower case.
const USUAL_ENDS: [&str; 12] = [
    "stop",
    "eos_token",
    "stop_token",
    "eos_token_id",
    "end_of_text",
    "complete",
    "completed",
    "finished",
    "done",
    "normal",
    "tool_use",
    "tool_call",
];

/// The spellings of a refusal that rig does not know, in lower case.
const REFUSALS: [&str; 5] = [
    "refusal",
    "safety",
    "content_filtered",
    "recitation",
    "image_recitation",
];

/// Returns [`StopReason::Refusal`] only if the service reports a refusal. A response without a stop reason counts as finished.
fn stop(api: Api, response: &CompletionResponse) -> StopReason {
    let has_calls = response.tool_calls().next().is_some();
    let unknown = match response.finish_reason() {
        Some(FinishReason::Other(reason)) => reason,
        _ => String::new(),
    };
    let lower = unknown.to_ascii_lowercase();
    match response.finish_reason() {
        _ if is_refusal(api, response) => StopReason::Refusal,
        Some(FinishReason::Length) => StopReason::Length,
        Some(FinishReason::ContentFilter) => StopReason::Refusal,
        Some(FinishReason::Other(_)) if REFUSALS.contains(&lower.as_str()) => StopReason::Refusal,
        Some(FinishReason::Other(_)) if !USUAL_ENDS.contains(&lower.as_str()) => {
            StopReason::Other(unknown)
        }
        // rig takes a pause for the end.
        _ if response
            .raw
            .get("stop_reason")
            .is_some_and(|reason| reason == "pause_turn") =>
        {
            StopReason::Paused
        }
        _ if has_calls => StopReason::Calls,
        _ => StopReason::Answer,
    }
}

/// Returns true if a refusal has a place of its own: a field of chat completions, or a part of a message of the Responses API.
fn is_refusal(api: Api, response: &CompletionResponse) -> bool {
    let field = response
        .raw
        .pointer("/choices/0/message/refusal")
        .and_then(Value::as_str);
    let is_part = |item: &Value| {
        let parts = item
            .get("content")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        parts.into_iter().any(|part| part["type"] == "refusal")
    };
    let stated = response
        .raw
        .get("output")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let streamed = response
        .choice
        .iter()
        .filter_map(AssistantContent::native_item);
    field.is_some_and(|text| !text.is_empty())
        || (api == Api::OpenAiResponses && stated.chain(streamed).any(is_part))
}

/// Returns the arguments of a call as they were sent. A text that holds one object counts as the
/// object. Arguments that are not one JSON object are returned as text, with the reason.
fn arguments(call: &mut RigCall, streamed: &mut StreamedArguments) -> (Json, Option<String>) {
    let Some(sent) = call
        .function
        .invalid_arguments
        .take()
        .or_else(|| streamed.take(&call.id))
        .map(unmarked)
    else {
        return (
            Value::Object(std::mem::take(&mut call.function.arguments)).into(),
            None,
        );
    };
    // Some services write calls without arguments so.
    if matches!(sent.trim(), "" | "null") {
        return (Json::default(), None);
    }
    let sent = the_only_object(&sent).map(str::to_owned).unwrap_or(sent);
    let parsed = Json::parse(sent.as_str());
    if let Some(inner) = parsed.as_ref().ok().and_then(inner_object) {
        return (inner, None);
    }
    let reason = match parsed {
        Ok(json) if json.node().is_object() => return (json, None),
        Ok(json) if json.node().as_str().is_some() => "they are a string".to_owned(),
        Ok(_) => "they are another JSON value".to_owned(),
        Err(error) => error.to_string(),
    };
    (Value::String(sent).into(), Some(reason))
}

/// Returns the object that a text repeats, or that follows an empty one in it. Returns `None` if the text is anything else.
fn the_only_object(text: &str) -> Option<&str> {
    let documents: Result<Vec<&RawValue>, _> = serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect();
    let mut documents = documents.ok().filter(|documents| documents.len() > 1)?;
    documents.retain(|document| document.get() != "{}");
    let (first, rest) = documents.split_first()?;
    let is_object =
        first.get().starts_with('{') && rest.iter().all(|other| other.get() == first.get());
    is_object.then(|| first.get())
}

/// Returns the object that a string holds.
fn inner_object(json: &Json) -> Option<Json> {
    Json::parse(json.node().as_str()?)
        .ok()
        .filter(|inner| inner.node().is_object())
}

/// Returns the reason that a call must not be run, or `None` if it may be run. `invalid` says what its arguments are.
fn fault(name: &str, invalid: Option<&str>, stop: &StopReason) -> Option<String> {
    match (stop, invalid) {
        // A run refuses every call of a turn that was cut off.
        (StopReason::Length, _) => None,
        (StopReason::Refusal, _) => Some(format!(
            "the service stopped the turn as a refusal, so the call of {name} was not run"
        )),
        (_, Some(reason)) => Some(format!(
            "the arguments of {name} are not a JSON object: {reason}. The call was not run; call again with one JSON object that \
             matches the tool's schema"
        )),
        _ => None,
    }
}

fn tool_call(call: RigCall, arguments: Json) -> ToolCall {
    let id = call
        .id
        .provider()
        .map(|id| id.as_str().to_owned())
        .unwrap_or_default();
    ToolCall::new(id, call.function.name.as_str(), arguments)
}

fn readable(block: &AssistantContent) -> String {
    match block {
        AssistantContent::Reasoning(reasoning) if !reasoning.redacted => reasoning.text.clone(),
        _ => String::new(),
    }
}

fn opaque(response: &CompletionResponse, block: &AssistantContent) -> Value {
    json!({ORIGIN: response.origin, BLOCK: block})
}

fn picture(image: &Image) -> Option<Content> {
    let (DocumentSourceKind::Base64(data), Some(kind)) = (&image.data, &image.media_type) else {
        return None;
    };
    Some(Content::Image {
        data: data.clone(),
        mime_type: kind.to_mime_type().to_owned(),
    })
}
