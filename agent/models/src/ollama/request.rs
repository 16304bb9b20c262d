//! Writes the requests of Ollama.

use agent::provider::ReasoningEffort;
use serde_json::{Map, Value, json};
use tools::Content;
use tools::protocol::wire::{Format, WireCall};

use crate::conversation::{Said, Unit, only_text, with};
use crate::profile::{Profile, RequestParts};
use crate::request_body::RequestBody;
use crate::settings::{Asked, REASONING, Unsupported, refused};

/// Returns the messages of a unit.
pub(crate) fn messages(unit: Unit<'_>) -> Vec<Value> {
    match unit {
        Unit::System(text) => vec![json!({"role": "system", "content": text})],
        Unit::User { results, content } => {
            let mut messages: Vec<_> = results
                .into_iter()
                .map(|result| {
                    let content = only_text(&result.content).unwrap_or_default();
                    json!({"role": "tool", "tool_name": result.name, "tool_call_id": result.id, "content": content})
                })
                .collect();
            if !content.is_empty() {
                messages.push(user(&content));
            }
            messages
        }
        Unit::Assistant(said) => vec![assistant(said)],
    }
}

fn user(content: &[Content]) -> Value {
    let texts: Vec<_> = content.iter().filter_map(Content::as_text).collect();
    let images = content.iter().filter_map(|content| match content {
        Content::Image { data, .. } => Some(data.as_str()),
        _ => None,
    });
    let images: Vec<_> = images.collect();
    let mut message = json!({"role": "user", "content": texts.join("\n")});
    if !images.is_empty() {
        message["images"] = images.into();
    }
    message
}

fn assistant(said: Vec<Said<'_>>) -> Value {
    let mut text = String::new();
    let mut thoughts = Vec::new();
    let mut calls = Vec::new();
    for said in said {
        match said {
            Said::Text { text: more, .. } => text += &more,
            Said::Item(item) => thoughts.extend(item["thinking"].as_str()),
            Said::Call { call, beside } => {
                let written = Format::Ollama.write_calls(&[WireCall::from(call)]);
                let written = written.into_iter().next().unwrap_or_default();
                calls.push(with(written["tool_calls"][0].clone(), beside));
            }
            Said::Image { .. } => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !thoughts.is_empty() {
        message["thinking"] = thoughts.join("\n").into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// Adds the fields of a request after the messages.
pub(crate) fn body(model: &Profile, parts: &RequestParts<'_>, body: &mut RequestBody) {
    if parts.tools.list().len() > 0 {
        body.text("tools", parts.tools.definitions());
    }
    let mut options = model.generation_config.clone();
    if let Some(limit) = parts.output_limit {
        options.insert("num_predict".to_owned(), limit.into());
    }
    if !options.is_empty() {
        body.field("options", &options.into());
    }
    body.field("stream", &parts.streaming.into());
}

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let mut fields = Map::from_iter([("model".to_owned(), asked.model.into())]);
    let thinking = match asked.generation.reasoning_effort {
        None => return Ok(fields),
        Some(ReasoningEffort::Off) => false.into(),
        Some(effort @ (ReasoningEffort::Minimal | ReasoningEffort::ExtraHigh)) => {
            let reason = format!("Ollama has no level {effort}");
            return refused(REASONING, reason);
        }
        Some(effort) => Value::from(effort.name()),
    };
    fields.insert("think".to_owned(), thinking);
    Ok(fields)
}

/// Returns the options of every request.
pub(crate) fn options(asked: Asked<'_>) -> Map<String, Value> {
    let temperature = asked.generation.temperature;
    let temperature = temperature.map(|temperature| ("temperature".to_owned(), temperature.into()));
    temperature.into_iter().collect()
}
