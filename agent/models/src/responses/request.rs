//! Writes the requests of the Responses API.

use serde_json::{Map, Value, json};
use tools::Content;

use crate::conversation::{ResultShown, Said, Unit, only_text, with};
use crate::profile::{Profile, RequestParts};
use crate::request_body::RequestBody;
use crate::service::ReasoningField;
use crate::settings::{Asked, ForcedCall, REASONING, Unsupported, refused};

/// Returns the items of a unit.
pub(crate) fn messages(model: &Profile, unit: Unit<'_>) -> Vec<Value> {
    match unit {
        Unit::System(text) => vec![message(
            "system",
            json!({"type": "input_text", "text": text}),
        )],
        Unit::User { results, content } => {
            let results = results.into_iter().map(|result| result_item(model, result));
            let prompts = content.iter().map(|content| message("user", part(content)));
            results.chain(prompts).collect()
        }
        Unit::Assistant(said) => assistant(model, said),
    }
}

fn message(role: &str, part: Value) -> Value {
    json!({"type": "message", "role": role, "content": [part]})
}

fn part(content: &Content) -> Value {
    match content {
        Content::Image { data, mime_type } => {
            json!({"type": "input_image", "image_url": format!("data:{mime_type};base64,{data}")})
        }
        content => json!({"type": "input_text", "text": content.as_text().unwrap_or_default()}),
    }
}

fn result_item(model: &Profile, result: ResultShown<'_>) -> Value {
    let text = only_text(&result.content);
    let output = text.map_or_else(|| result.content.iter().map(part).collect(), Value::from);
    json!({"type": "function_call_output", "call_id": model.call_id(result.id), "output": output})
}

fn assistant(model: &Profile, said: Vec<Said<'_>>) -> Vec<Value> {
    let mut items = Vec::new();
    let mut said = said.into_iter().peekable();
    let mut is_anew = false;
    while let Some(part) = said.next() {
        match part {
            Said::Item(item) if item["type"] == "reasoning" => {
                let sealed = item["encrypted_content"].as_str();
                let is_sealed = sealed.is_some_and(|sealed| !sealed.is_empty());
                // A thought goes with the item after it.
                let has_next = said.peek().is_some_and(|next| match next {
                    Said::Text { beside, .. } | Said::Call { beside, .. } => beside.is_some(),
                    Said::Item(_) => true,
                    Said::Image { .. } => false,
                });
                if !is_sealed {
                    // The service stores nothing, so a thought that is not encrypted stays out. The item after it is written anew,
                    // because its id belongs to the thought.
                    is_anew = true;
                } else if has_next {
                    items.push(item.clone());
                }
                continue;
            }
            Said::Item(item) => items.push(item.clone()),
            Said::Text { text, beside } => {
                items.push(text_item(&text, beside.filter(|_| !is_anew)))
            }
            Said::Call { call, beside } => {
                let id = model.call_id(&call.id);
                let item = json!({"type": "function_call", "call_id": id, "name": call.name, "arguments": call.arguments.to_string()});
                items.push(with(item, beside.filter(|_| !is_anew)));
            }
            Said::Image { mime_type, .. } => {
                items.push(text_item(&format!("[an image of type {mime_type}]"), None))
            }
        }
        is_anew = false;
    }
    items
}

/// Returns a text of the model, with the members that the service put beside it. A stored session may hold anything for them.
fn text_item(text: &str, beside: Option<&Map<String, Value>>) -> Value {
    let mut item = beside.cloned().unwrap_or_default();
    let part = item.remove("content");
    let mut part = match part.and_then(|mut parts| Some(parts.get_mut(0)?.take())) {
        Some(Value::Object(part)) => part,
        _ => Map::from_iter([("annotations".to_owned(), json!([]))]),
    };
    part.insert("type".to_owned(), "output_text".into());
    part.insert("text".to_owned(), text.into());
    item.entry("type").or_insert_with(|| "message".into());
    item.entry("role").or_insert_with(|| "assistant".into());
    item.insert("content".to_owned(), json!([part]));
    item.into()
}

/// Adds the fields of a request after the items.
pub(crate) fn body(parts: &RequestParts<'_>, body: &mut RequestBody) {
    let system: Vec<_> = parts.system.iter().map(|text| text.trim()).collect();
    if !system.is_empty() {
        body.field("instructions", &system.join("\n\n").into());
    }
    if parts.tools.list().len() > 0 {
        body.text("tools", parts.tools.definitions());
        if let Some(forced) = &parts.forced_call {
            let choice = match forced {
                ForcedCall::None => "none".into(),
                ForcedCall::Any => "required".into(),
                ForcedCall::Tool(name) => json!({"type": "function", "name": name}),
            };
            body.field("tool_choice", &choice);
        }
    }
    if let Some(limit) = parts.output_limit {
        body.field("max_output_tokens", &limit.into());
    }
    if parts.streaming {
        body.field("stream", &true.into());
    }
}

/// Returns the fields of every request.
pub(crate) fn settings(asked: Asked<'_>) -> Result<Map<String, Value>, Unsupported> {
    let service = asked.service;
    let is_known = matches!(
        service.reasoning,
        Some(ReasoningField::Effort | ReasoningField::Object)
    );
    let mut fields = asked.fields()?;
    // Turns are sent back whole, so that no conversation stays with the service.
    fields.insert("store".to_owned(), false.into());
    let sealed = json!(["reasoning.encrypted_content"]);
    fields.insert("include".to_owned(), sealed);
    if let Some(effort) = asked.effort()? {
        if !is_known {
            let reason = format!("no field of {} is known for it", service.name);
            return refused(REASONING, reason);
        }
        let level = match effort {
            agent::ReasoningEffort::Off => "none",
            effort => effort.name(),
        };
        fields.insert("reasoning".to_owned(), json!({"effort": level}));
    }
    Ok(fields)
}
