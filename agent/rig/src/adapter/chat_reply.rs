//! Corrects chat completions: the place of the only choice, calls that are no list or lack their type, and those of older servers.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

/// Returns a reply, or a chunk of one, with its calls as the API has them.
pub(super) fn read(payload: &str) -> Cow<'_, str> {
    // The place of the only choice is the first one.
    let is_elsewhere = payload.contains("\"index\":") && !payload.contains("\"index\":0");
    if !is_elsewhere
        && !["\"function_call\"", "\"tool_calls\""]
            .iter()
            .any(|key| payload.contains(key))
    {
        return Cow::Borrowed(payload);
    }
    let Ok(mut reply) = serde_json::from_str::<Value>(payload) else {
        return Cow::Borrowed(payload);
    };
    let choices = reply.get_mut("choices").and_then(Value::as_array_mut);
    let choices = choices.map_or(&mut [][..], Vec::as_mut_slice);
    let mut is_changed = false;
    if let [choice] = &mut *choices
        && choice["index"].as_u64().is_some_and(|index| index > 0)
    {
        choice["index"] = 0.into();
        is_changed = true;
    }
    for choice in choices {
        for key in ["delta", "message"] {
            if let Some(Value::Object(message)) = choice.get_mut(key) {
                is_changed |= correct(message);
            }
        }
    }
    if is_changed {
        reply.to_string().into()
    } else {
        Cow::Borrowed(payload)
    }
}

/// Corrects the calls of a message. Returns true if it changes.
fn correct(message: &mut Map<String, Value>) -> bool {
    let mut is_changed = false;
    let has_calls = message
        .get("tool_calls")
        .and_then(Value::as_array)
        .is_some_and(|calls| !calls.is_empty());
    if !has_calls && let Some(Value::Object(call)) = message.get("tool_calls") {
        let calls = if call.is_empty() {
            json!([])
        } else {
            json!([call])
        };
        message.insert("tool_calls".to_owned(), calls);
        is_changed = true;
    }
    if !has_calls && message.get("function_call").is_some_and(Value::is_object) {
        let function = message.remove("function_call");
        message.insert(
            "tool_calls".to_owned(),
            json!([{"index": 0, "type": "function", "function": function}]),
        );
        is_changed = true;
    }
    let calls = message
        .get_mut("tool_calls")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    for call in calls.filter_map(Value::as_object_mut) {
        if !call.contains_key("function")
            && (call.contains_key("name") || call.contains_key("arguments"))
        {
            let parts = ["name", "arguments"]
                .into_iter()
                .filter_map(|key| Some((key.to_owned(), call.remove(key)?)));
            let function = Value::Object(parts.collect());
            call.insert("function".to_owned(), function);
            is_changed = true;
        }
        if let Some(arguments) = call.get("arguments").cloned()
            && let Some(Value::Object(function)) = call.get_mut("function")
            && !function.contains_key("arguments")
        {
            function.insert("arguments".to_owned(), arguments);
            is_changed = true;
        }
        if call.contains_key("function") && call.get("type").is_some_and(|kind| kind != "function")
        {
            call.insert("type".to_owned(), "function".into());
            is_changed = true;
        }
    }
    is_changed
}
