//! [`Said`]: the words of the model in a reply, and in the request that repeats them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tools::protocol::wire::Format;

/// The text, the calls with their ids, the thoughts and the signatures of a message of the model.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    text: String,
    calls: Vec<(Value, String, Value)>,
    /// The text of thoughts in chat completions, where it is beside the text.
    thoughts: String,
    /// The ids of items, the signatures, and the details of thoughts that OpenRouter signs.
    signatures: Vec<Value>,
}

/// Reads the recorded reply of a service.
pub(super) fn reply(format: Format, body: &str) -> Said {
    let events: Vec<Value> = match serde_json::from_str(body) {
        Ok(whole) => vec![whole],
        Err(_) => body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect(),
    };
    match format {
        Format::OpenAiChat => chat(&chat_message(&events)),
        Format::Anthropic => blocks(&message_blocks(&events)),
        Format::Gemini => {
            let parts = events.iter().filter_map(|event| event.pointer("/candidates/0/content/parts")?.as_array());
            gemini(parts.flatten())
        }
        _ => {
            // The last event of a stream repeats the items with other signatures.
            let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
            items(events[0]["output"].as_array().into_iter().flatten().chain(done.map(|event| &event["item"])))
        }
    }
}

/// Reads the message of the model in a later request.
pub(super) fn sent(format: Format, body: &Value) -> Said {
    let by_role = |list: &str, role: &str| {
        let messages = body[list].as_array().into_iter().flatten();
        messages.into_iter().find(|message| message["role"] == role).cloned().unwrap_or_default()
    };
    match format {
        Format::OpenAiChat => chat(&by_role("messages", "assistant")),
        Format::Anthropic => blocks(by_role("messages", "assistant")["content"].as_array().unwrap_or(&Vec::new())),
        Format::Gemini => gemini(by_role("contents", "model")["parts"].as_array().into_iter().flatten()),
        _ => {
            let input = body["input"].as_array().into_iter().flatten();
            items(input.filter(|item| !["user", "system"].iter().any(|role| item["role"] == *role)))
        }
    }
}

/// Returns the message of a whole reply of chat completions, or of its stream.
fn chat_message(events: &[Value]) -> Value {
    if let [whole] = events {
        return whole["choices"][0]["message"].clone();
    }
    let (mut text, mut thoughts, mut details) = (String::new(), String::new(), Vec::new());
    let mut calls = BTreeMap::<u64, [String; 3]>::new();
    for delta in events.iter().filter_map(|event| event.pointer("/choices/0/delta")) {
        text += &texts(&delta["content"]);
        thoughts += delta["reasoning_content"].as_str().unwrap_or_default();
        for detail in delta["reasoning_details"].as_array().into_iter().flatten() {
            add_detail(&mut details, detail);
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let texts = calls.entry(call["index"].as_u64().unwrap_or_default()).or_default();
            for (text, place) in texts.iter_mut().zip(["/id", "/function/name", "/function/arguments"]) {
                text.push_str(call.pointer(place).and_then(Value::as_str).unwrap_or_default());
            }
        }
    }
    let calls: Vec<_> = calls
        .into_values()
        .map(|[id, name, arguments]| json!({"id": id, "function": {"name": name, "arguments": arguments}}))
        .collect();
    json!({"content": text, "tool_calls": calls, "reasoning_content": thoughts, "reasoning_details": details})
}

/// Adds a piece of a stream's details. Those of one index are one.
fn add_detail(details: &mut Vec<Value>, piece: &Value) {
    let Some(detail) = details.iter_mut().find(|detail| detail["index"] == piece["index"]) else {
        return details.push(piece.clone());
    };
    for (key, value) in piece.as_object().unwrap() {
        match (detail[key].as_str(), value.as_str(), key.as_str()) {
            (Some(begun), Some(more), "text" | "data" | "summary") => detail[key] = format!("{begun}{more}").into(),
            _ => detail[key] = value.clone(),
        }
    }
}

fn texts(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().map_or_else(|| parts.collect(), str::to_owned)
}

fn chat(message: &Value) -> Said {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(|call| {
        let function = &call["function"];
        (call["id"].clone(), name(function), parsed(&function["arguments"]))
    });
    Said {
        text: visible(&texts(&message["content"])),
        calls: calls.collect(),
        thoughts: message["reasoning_content"].as_str().unwrap_or_default().to_owned(),
        signatures: message["reasoning_details"].as_array().cloned().unwrap_or_default(),
    }
}

/// Returns the blocks of a whole reply of Anthropic, or of its stream.
fn message_blocks(events: &[Value]) -> Vec<Value> {
    if let Some(content) = events[0]["content"].as_array() {
        return content.clone();
    }
    let mut blocks: Vec<Value> = Vec::new();
    let mut inputs = BTreeMap::<usize, String>::new();
    for event in events {
        let index = usize::try_from(event["index"].as_u64().unwrap_or_default()).unwrap();
        let delta = &event["delta"];
        match event["type"].as_str().unwrap() {
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_delta" => {
                for key in ["text", "thinking", "signature"] {
                    if let Some(more) = delta[key].as_str() {
                        blocks[index][key] = (blocks[index][key].as_str().unwrap_or_default().to_owned() + more).into();
                    }
                }
                inputs.entry(index).or_default().push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    for (index, input) in inputs.into_iter().filter(|(_, input)| !input.is_empty()) {
        blocks[index]["input"] = serde_json::from_str(&input).unwrap();
    }
    blocks
}

fn blocks(content: &[Value]) -> Said {
    let text: String = content.iter().filter_map(|block| block["text"].as_str()).collect();
    let calls = content.iter().filter(|block| block["type"] == "tool_use");
    let calls = calls.map(|call| (call["id"].clone(), name(call), call["input"].clone()));
    let signatures = content.iter().filter_map(|block| block.get("signature").cloned());
    Said { text: visible(&text), calls: calls.collect(), signatures: signatures.collect(), ..Said::default() }
}

fn gemini<'a>(parts: impl Iterator<Item = &'a Value>) -> Said {
    let mut said = Said::default();
    for part in parts {
        said.signatures.extend(part.get("thoughtSignature").cloned());
        if let Some(call) = part.get("functionCall") {
            said.calls.push((call["id"].clone(), name(call), call["args"].clone()));
        } else if part["thought"] != true {
            said.text += part["text"].as_str().unwrap_or_default();
        }
    }
    said.text = visible(&said.text);
    said
}

fn items<'a>(items: impl Iterator<Item = &'a Value>) -> Said {
    let mut said = Said::default();
    let mut is_after_plain_thought = false;
    for item in items {
        let id = item["id"].as_str().filter(|id| !id.starts_with("msg_rig_"));
        let sealed = item["encrypted_content"].as_str().filter(|sealed| !sealed.is_empty());
        // The service stores nothing, so rig leaves out a thought that is not encrypted, and the id of the item after it.
        if item["type"] == "reasoning" && sealed.is_none() {
            is_after_plain_thought = true;
            continue;
        }
        let id = id.filter(|_| !std::mem::take(&mut is_after_plain_thought));
        said.signatures.extend([id, sealed].into_iter().flatten().map(Value::from));
        match item["type"].as_str() {
            Some("function_call") => said.calls.push((item["call_id"].clone(), name(item), parsed(&item["arguments"]))),
            Some("message") | None => said.text += &texts(&item["content"]),
            _ => {}
        }
    }
    said.text = visible(&said.text);
    said
}

fn name(call: &Value) -> String {
    call["name"].as_str().unwrap_or_default().to_owned()
}

/// Reads arguments that are sent as text.
fn parsed(arguments: &Value) -> Value {
    arguments.as_str().map_or_else(|| arguments.clone(), |text| serde_json::from_str(text).unwrap())
}

/// Blank text is not sent.
fn visible(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { text.to_owned() }
}
