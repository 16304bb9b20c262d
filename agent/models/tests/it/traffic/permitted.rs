//! The differences between a reply and the request that repeats it. Each has its reason.

use serde_json::{Value, json};
use tools::Json;
use tools::protocol::wire::Format;

/// Returns the words of a reply as they are to be sent.
pub(super) fn permitted(format: Format, mut said: Vec<Value>) -> Vec<Value> {
    match format {
        Format::OpenAiChat => said.iter_mut().for_each(message),
        Format::OpenAiResponses => said = items(said),
        Format::Gemini => said = joined(said),
        _ => {}
    }
    said
}

/// Changes a message of chat completions.
fn message(message: &mut Value) {
    let fields = message.as_object_mut().unwrap();
    // Some streams state no role, which a request needs.
    fields.insert("role".to_owned(), "assistant".into());
    // A message with calls needs no text, and services refuse an empty one.
    if fields.get("content").is_some_and(|content| content == "") {
        fields.remove("content");
    }
    // A member that is null says nothing.
    fields.retain(|_, value| !value.is_null());
    for call in fields
        .get_mut("tool_calls")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        // The place of a call in a stream. A request has them in their order.
        call.as_object_mut().unwrap().remove("index");
        // Arguments are written anew, without spaces.
        let arguments = call["function"]["arguments"].as_str().unwrap();
        call["function"]["arguments"] = Json::parse(arguments).unwrap().to_string().into();
    }
    for part in fields
        .get_mut("content")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        // Mistral marks the thoughts of a stream with the default of a request.
        assert_ne!(
            part.as_object_mut().unwrap().remove("closed"),
            Some(json!(false))
        );
    }
}

/// Changes the items of the Responses API.
fn items(items: Vec<Value>) -> Vec<Value> {
    let is_sealed = |item: &Value| {
        item["encrypted_content"]
            .as_str()
            .is_some_and(|sealed| !sealed.is_empty())
    };
    let is_plain_thought = |item: &Value| item["type"] == "reasoning" && !is_sealed(item);
    let after_plain_thought = [false]
        .into_iter()
        .chain(items.iter().map(is_plain_thought))
        .collect::<Vec<_>>();
    // The service stores nothing, so a thought that is not encrypted stays out. The item after it is written anew, because its id
    // belongs to the thought.
    let sent = items
        .iter()
        .zip(after_plain_thought)
        .filter(|(item, _)| !is_plain_thought(item));
    sent.map(|(item, is_anew)| if is_anew { anew(item) } else { item.clone() })
        .collect()
}

/// Returns an item with the members alone that a request needs.
fn anew(item: &Value) -> Value {
    match item["type"].as_str() {
        Some("function_call") => {
            let (id, name, arguments) = (&item["call_id"], &item["name"], &item["arguments"]);
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
        }
        _ => {
            let part = json!({"type": "output_text", "text": item["content"][0]["text"], "annotations": []});
            json!({"type": "message", "role": "assistant", "content": [part]})
        }
    }
}

/// Joins the texts of Gemini.
fn joined(parts: Vec<Value>) -> Vec<Value> {
    let mut joined: Vec<Value> = Vec::new();
    for part in parts {
        // A stream sends one text in several parts. The signature of the last one is that of all.
        match joined.last_mut() {
            Some(last)
                if last["text"].is_string()
                    && part["text"].is_string()
                    && last["thought"] == part["thought"] =>
            {
                let text = format!(
                    "{}{}",
                    last["text"].as_str().unwrap(),
                    part["text"].as_str().unwrap()
                );
                last.as_object_mut()
                    .unwrap()
                    .extend(part.as_object().unwrap().clone());
                last["text"] = json!(text);
            }
            _ => joined.push(part),
        }
    }
    joined
}
