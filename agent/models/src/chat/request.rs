//! Writes the requests of chat completions.

use agent::provider::{ReasoningEffort, ToolChoice};
use serde_json::{Map, Value, json};
use tools::Content;
use tools::protocol::wire::{Format, WireCall};

use super::calls::add;
use crate::conversation::{ResultShown, Said, Unit, only_text, with};
use crate::profile::{Profile, RequestParts};
use crate::request_body::RequestBody;
use crate::service::{ForcedCalls, ReasoningField};
use crate::settings::{Asked, ForcedCall, REASONING, TOOL_CHOICE, Unsupported, refused};

/// The turn between results and a prompt, such as that for a summary.
const TURN: &str = "Understood.";

/// Returns the messages of a unit.
pub(crate) fn messages(model: &Profile, unit: Unit<'_>) -> Vec<Value> {
    match unit {
        Unit::System(text) => vec![json!({"role": "system", "content": text})],
        Unit::User { results, content } => user(model, results, &content),
        Unit::Assistant(said) => vec![assistant(model, said)],
    }
}

fn user(model: &Profile, results: Vec<ResultShown<'_>>, content: &[Content]) -> Vec<Value> {
    let separates = model.separates_results && !results.is_empty() && !content.is_empty();
    let mut messages: Vec<_> = results
        .into_iter()
        .map(|result| {
            let content =
                only_text(&result.content).map_or_else(|| parts(&result.content), Value::from);
            json!({"role": "tool", "tool_call_id": model.call_id(result.id), "content": content})
        })
        .collect();
    if separates {
        let text = TURN.to_owned();
        let beside = None;
        messages.push(assistant(model, vec![Said::Text { text, beside }]));
    }
    if !content.is_empty() {
        let content = only_text(content).map_or_else(|| parts(content), Value::from);
        messages.push(json!({"role": "user", "content": content}));
    }
    messages
}

fn parts(content: &[Content]) -> Value {
    content.iter().map(|content| match content {
        Content::Image { data, mime_type } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{mime_type};base64,{data}")}})
        }
        content => json!({"type": "text", "text": content.as_text().unwrap_or_default()}),
    }).collect()
}

fn assistant(model: &Profile, said: Vec<Said<'_>>) -> Value {
    let mut text = String::new();
    let mut parts = Vec::new();
    let mut calls = Vec::new();
    let mut fields = Map::new();
    let mut has_items = false;
    for said in said {
        match said {
            Said::Text { text: more, beside } => {
                text += &more;
                parts.push(json!({"type": "text", "text": more}));
                let beside = beside.into_iter().flatten();
                beside.for_each(|(name, value)| add(&mut fields, name, value.clone()));
            }
            Said::Call { call, beside } => calls.push(tool_call(model, call, beside)),
            Said::Item(item) if item.get("type").is_some() => {
                has_items = true;
                parts.push(item.clone());
            }
            // A thought is in a member of the message.
            Said::Item(item) => {
                let members = item.as_object().into_iter().flatten();
                members.for_each(|(name, value)| add(&mut fields, name, value.clone()));
            }
            Said::Image { .. } => {}
        }
    }
    let mut message = Map::from_iter([("role".to_owned(), Value::from("assistant"))]);
    // Services that copy the API often take no list of texts, so a list is sent only if other parts are in it.
    if has_items {
        message.insert("content".to_owned(), parts.into());
    } else if !text.is_empty() {
        message.insert("content".to_owned(), text.into());
    }
    message.append(&mut fields);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    if let Some(field) = model.reasoning_field() {
        // DeepSeek refuses a turn with calls that lacks the field, also one that another model made.
        message.entry(field).or_insert_with(|| "".into());
    }
    message.into()
}

fn tool_call(model: &Profile, call: tools::ToolCall, beside: Option<&Map<String, Value>>) -> Value {
    let id = model.call_id(&call.id).into_owned();
    let written = Format::OpenAiChat.write_calls(&[WireCall::from(tools::ToolCall { id, ..call })]);
    let mut call = written.into_iter().next().unwrap_or_default();
    with(call["tool_calls"][0].take(), beside)
}

/// Adds the fields of a request after the messages.
pub(crate) fn body(model: &Profile, parts: &RequestParts<'_>, body: &mut RequestBody) {
    let service = model.service;
    if parts.tools.list().len() > 0 {
        body.text("tools", parts.tools.definitions());
        if let Some(choice) = tool_choice(model, parts) {
            body.field("tool_choice", &choice);
        }
    }
    if let Some(limit) = parts.output_limit {
        // OpenAI's reasoning models refuse the old name, and most other services do not know the new one.
        let has_new_name = service.name == "openai"
            && !model.name.contains('/')
            && crate::model_facts::is_reasoning_model_of_openai(&model.name);
        let name = if has_new_name {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body.field(name, &limit.into());
    }
    if parts.streaming {
        // Without the field a stream tells no usage, and budgets of tokens would not hold.
        if service.stream_options {
            body.field("stream_options", &json!({"include_usage": true}));
        }
        body.field("stream", &true.into());
    }
}

/// Returns the choice in the form of chat completions.
fn tool_choice(model: &Profile, parts: &RequestParts<'_>) -> Option<Value> {
    let forced = parts.forced_call.as_ref()?;
    let is_refused = match model.service.forced_calls {
        // A choice of no tool forces nothing, so every service takes it.
        _ if *forced == ForcedCall::None => false,
        ForcedCalls::Named | ForcedCalls::Any => false,
        ForcedCalls::WithoutReasoning => {
            let effort = model.generation.reasoning_effort;
            model.name != "deepseek-chat" && effort != Some(ReasoningEffort::Off)
        }
        ForcedCalls::Never => true,
    };
    Some(match forced {
        _ if is_refused => return None,
        ForcedCall::None => "none".into(),
        ForcedCall::Any => "required".into(),
        ForcedCall::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    })
}

/// Returns the prompt that asks for a call, where the service forces none:
/// <https://platform.moonshot.ai/docs/guide/migrating-from-openai-to-kimi>.
pub(crate) fn request_for_call(model: &Profile, parts: &RequestParts<'_>) -> Option<Value> {
    let is_asked = parts.forced_call == Some(ForcedCall::Any)
        && model.service.forced_calls == ForcedCalls::Never;
    let content = "Please select a tool to handle the current issue.";
    is_asked.then(|| json!({"role": "user", "content": content}))
}

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let service = asked.service;
    let generation = asked.generation;
    let has_named_calls = !matches!(service.forced_calls, ForcedCalls::Any | ForcedCalls::Never);
    if matches!(generation.tool_choice, Some(ToolChoice::Tool(_))) && !has_named_calls {
        let reason = format!("{} forces no call of one tool", service.name);
        return refused(TOOL_CHOICE, reason);
    }
    let mut fields = asked.fields()?;
    fields.extend(reasoning(asked)?);
    Ok(fields)
}

fn reasoning(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let Some(effort) = asked.effort()? else {
        return Ok(Map::new());
    };
    let service = asked.service;
    let Some(field) = service.reasoning else {
        let reason = format!("no field of {} is known for it", service.name);
        return refused(REASONING, reason);
    };
    let level = effort.name();
    let is_off = effort == ReasoningEffort::Off;
    let efforts = service.efforts.as_ref();
    let is_known = efforts.is_none_or(|efforts| efforts.iter().any(|known| known == level));
    let has_own_levels = asked.facts.is_some_and(|facts| facts.efforts.is_some());
    if !is_off && !has_own_levels && !is_known {
        let reason = format!("{} has no level {level} of reasoning", service.name);
        return refused(REASONING, reason);
    }
    let level = if is_off { "none" } else { level };
    let has_switch = asked.facts.is_some_and(|facts| facts.off_field.is_some());
    let fields = match field {
        ReasoningField::Effort if is_off && has_switch => json!({"thinking": {"type": "disabled"}}),
        ReasoningField::Effort => json!({"reasoning_effort": level}),
        ReasoningField::Thinking if is_off => json!({"thinking": {"type": "disabled"}}),
        ReasoningField::Thinking => {
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": level})
        }
        ReasoningField::Object => json!({"reasoning": {"effort": level}}),
        ReasoningField::Enabled if is_off => json!({"reasoning": {"enabled": false}}),
        ReasoningField::Enabled => {
            json!({"reasoning": {"enabled": true}, "reasoning_effort": level})
        }
    };
    Ok(fields.as_object().cloned().unwrap_or_default())
}
