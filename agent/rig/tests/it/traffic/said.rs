//! [`Said`]: the words of the model in a reply, and in the request that repeats them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tools::protocol::wire::Format;

/// The text, the calls and the signatures of a message of the model.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    text: String,
    calls: Vec<(String, Value)>,
    signatures: Vec<String>,
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
    let (mut text, mut calls) = (String::new(), BTreeMap::<u64, (String, String)>::new());
    for delta in events.iter().filter_map(|event| event.pointer("/choices/0/delta")) {
        text += &texts(&delta["content"]);
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let (name, arguments) = calls.entry(call["index"].as_u64().unwrap_or_default()).or_default();
            name.push_str(call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default());
            arguments.push_str(call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default());
        }
    }
    let calls: Vec<_> = calls
        .into_values()
        .map(|(name, arguments)| json!({"function": {"name": name, "arguments": arguments}}))
        .collect();
    json!({"content": text, "tool_calls": calls})
}

fn texts(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().map_or_else(|| parts.collect(), str::to_owned)
}

fn chat(message: &Value) -> Said {
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["function"]);
    let calls = calls.map(|call| (name(call), parsed(&call["arguments"]))).collect();
    Said { text: visible(&texts(&message["content"])), calls, signatures: Vec::new() }
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
    let signatures = content.iter().filter_map(|block| block["signature"].as_str().map(str::to_owned)).collect();
    Said { text: visible(&text), calls: calls.map(|call| (name(call), call["input"].clone())).collect(), signatures }
}

fn gemini<'a>(parts: impl Iterator<Item = &'a Value>) -> Said {
    let mut said = Said::default();
    for part in parts {
        said.signatures.extend(part["thoughtSignature"].as_str().map(str::to_owned));
        if let Some(call) = part.get("functionCall") {
            said.calls.push((name(call), call["args"].clone()));
        } else if part["thought"] != true {
            said.text += part["text"].as_str().unwrap_or_default();
        }
    }
    said.text = visible(&said.text);
    said
}

fn items<'a>(items: impl Iterator<Item = &'a Value>) -> Said {
    let mut said = Said::default();
    for item in items {
        said.signatures.extend(item["encrypted_content"].as_str().map(str::to_owned));
        match item["type"].as_str() {
            Some("function_call") => said.calls.push((name(item), parsed(&item["arguments"]))),
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
