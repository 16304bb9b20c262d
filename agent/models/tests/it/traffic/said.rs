//! The words of the model as JSON: in a reply, and in the request that repeats them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tools::protocol::wire::Format;

/// Returns the blocks, parts or items of a recorded reply. Those of chat completions are one message.
pub(super) fn reply(format: Format, body: &str) -> Vec<Value> {
    let events: Vec<Value> = match serde_json::from_str(body) {
        Ok(whole) => vec![whole],
        Err(_) => body
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok())
            .collect(),
    };
    match format {
        Format::OpenAiChat => vec![chat_message(&events)],
        Format::Anthropic => message_blocks(&events),
        Format::Gemini => {
            let parts = events
                .iter()
                .filter_map(|event| event.pointer("/candidates/0/content/parts")?.as_array());
            parts.flatten().cloned().collect()
        }
        _ => {
            // The last event of a stream repeats the items with other signatures.
            let done = events
                .iter()
                .filter(|event| event["type"] == "response.output_item.done");
            let whole = events[0]["output"].as_array().into_iter().flatten();
            whole
                .chain(done.map(|event| &event["item"]))
                .cloned()
                .collect()
        }
    }
}

/// Returns the blocks, parts or items of the model's first message in a later request.
pub(super) fn sent(format: Format, body: &Value) -> Vec<Value> {
    let by_role = |list: &str, role: &str| {
        let messages = body[list].as_array().into_iter().flatten();
        messages
            .into_iter()
            .find(|message| message["role"] == role)
            .cloned()
    };
    let list = |message: Option<Value>, key: &str| {
        message
            .and_then(|message| message[key].as_array().cloned())
            .unwrap_or_default()
    };
    match format {
        Format::OpenAiChat => by_role("messages", "assistant").into_iter().collect(),
        Format::Anthropic => list(by_role("messages", "assistant"), "content"),
        Format::Gemini => list(by_role("contents", "model"), "parts"),
        _ => {
            let items = body["input"].as_array().into_iter().flatten();
            let is_ours = |item: &&Value| {
                item["type"] == "function_call_output"
                    || ["user", "system"].iter().any(|role| item["role"] == *role)
            };
            items.filter(|item| !is_ours(item)).cloned().collect()
        }
    }
}

/// Returns the message of a whole reply of chat completions, or of its stream.
fn chat_message(events: &[Value]) -> Value {
    if let [whole] = events {
        return whole["choices"][0]["message"].clone();
    }
    let mut message = Value::Object(Map::new());
    for delta in events
        .iter()
        .filter_map(|event| event.pointer("/choices/0/delta")?.as_object())
    {
        for (key, more) in delta {
            append(&mut message[key], key, more);
        }
    }
    message
}

/// Adds a piece of a stream to a member.
fn append(begun: &mut Value, key: &str, more: &Value) {
    match (begun, more) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(more))
            if !["role", "type", "format", "id"].contains(&key) =>
        {
            *text += more
        }
        (Value::Array(list), Value::Array(more)) => more
            .iter()
            .for_each(|element| append_element(list, element)),
        // Mistral sends a text after thoughts as a text, and not as a part.
        (Value::Array(list), Value::String(text)) => {
            append_element(list, &json!({"type": "text", "text": text}))
        }
        (Value::Object(fields), Value::Object(more)) => {
            more.iter().for_each(|(key, more)| {
                append(fields.entry(key).or_insert(Value::Null), key, more)
            });
        }
        (begun, more) => *begun = more.clone(),
    }
}

/// Adds a piece to the element with its index, or to the last one if it is of its type.
fn append_element(list: &mut Vec<Value>, piece: &Value) {
    let place = match piece["index"].as_u64() {
        Some(_) => list
            .iter()
            .position(|element| element["index"] == piece["index"]),
        None => list
            .len()
            .checked_sub(1)
            .filter(|last| list[*last]["type"] == piece["type"]),
    };
    match place {
        Some(place) => append(&mut list[place], "", piece),
        None => list.push(piece.clone()),
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
                for key in ["text", "thinking", "signature"]
                    .into_iter()
                    .filter(|key| delta[key].is_string())
                {
                    append(&mut blocks[index][key], key, &delta[key]);
                }
                if let Some(citation) = delta.get("citation") {
                    blocks[index]["citations"]
                        .as_array_mut()
                        .unwrap()
                        .push(citation.clone());
                }
                inputs
                    .entry(index)
                    .or_default()
                    .push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    for (index, input) in inputs.into_iter().filter(|(_, input)| !input.is_empty()) {
        blocks[index]["input"] = serde_json::from_str(&input).unwrap();
    }
    blocks
}
