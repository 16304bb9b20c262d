//! Corrects replies of Gemini that rig misreads: blocked prompts, and arguments that arrive in parts.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::exact_arguments::{ARGS, MAX_DEPTH, Members};

/// The reasons that say nothing.
const UNSPECIFIED: [&str; 2] = ["BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"];

/// The members of a call whose arguments arrive in parts.
const PARTIAL: &str = "partialArgs";
const GOES_ON: &str = "willContinue";

/// The members whose names tell that a gateway spells all of them so.
const SNAKE: [&str; 8] = [
    "\"function_call\"",
    "\"finish_reason\"",
    "\"inline_data\"",
    "\"thought_signature\"",
    "\"prompt_feedback\"",
    "\"usage_metadata\"",
    "\"partial_args\"",
    "\"will_continue\"",
];

/// Returns a reply with its members as the API spells them. Returns `None` if they are. The arguments of calls stay as they are.
pub(super) fn spelled(payload: &str) -> Option<String> {
    let spelled = SNAKE
        .iter()
        .any(|name| payload.contains(name))
        .then(|| camel(payload, 0))?;
    (spelled != payload).then_some(spelled)
}

fn camel(json: &str, depth: usize) -> String {
    if depth == MAX_DEPTH {
        return json.to_owned();
    }
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(json) {
        let items: Vec<_> = items
            .iter()
            .map(|item| camel(item.get(), depth + 1))
            .collect();
        return format!("[{}]", items.join(","));
    }
    let Ok(Members(members)) = serde_json::from_str(json) else {
        return json.to_owned();
    };
    let member = |(name, value): (String, &RawValue)| match name.as_str() {
        ARGS => format!("\"{ARGS}\":{}", value.get()),
        _ => format!(
            "{}:{}",
            Value::from(camel_name(&name)),
            camel(value.get(), depth + 1)
        ),
    };
    let members: Vec<_> = members.into_iter().map(member).collect();
    format!("{{{}}}", members.join(","))
}

fn camel_name(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| match word.split_at_checked(1) {
        Some((begin, rest)) => name + &begin.to_ascii_uppercase() + rest,
        None => name,
    })
}

/// The arguments of a call that arrive in parts, which are no JSON object, so that the call is refused.
const IN_PARTS: &str =
    "(the service sent the arguments in parts, which this program does not read)";

/// Returns a reply with a blocked prompt as a refusal, and with calls whose arguments arrive in parts as invalid ones.
pub(super) fn read(payload: &str) -> Cow<'_, str> {
    let is_blocked = payload.contains("\"blockReason\"");
    if !is_blocked && ![PARTIAL, GOES_ON].iter().any(|key| payload.contains(key)) {
        return Cow::Borrowed(payload);
    }
    let Ok(mut reply) = serde_json::from_str::<Value>(payload) else {
        return Cow::Borrowed(payload);
    };
    if let Some(reason) = reply
        .pointer("/promptFeedback/blockReason")
        .and_then(block_reason)
    {
        let text = format!("The service blocked the prompt ({reason}).");
        let content = json!({"role": "model", "parts": [{"text": text}]});
        reply["candidates"] = json!([{"index": 0, "content": content, "finishReason": "SAFETY"}]);
        if let Some(reply) = reply.as_object_mut() {
            reply.remove("promptFeedback");
        }
    }
    let candidates = reply
        .get_mut("candidates")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    let parts = candidates
        .filter_map(|candidate| candidate.pointer_mut("/content/parts")?.as_array_mut())
        .flatten();
    for call in parts.filter_map(|part| part.get_mut("functionCall")?.as_object_mut()) {
        let goes_on = call
            .get(GOES_ON)
            .and_then(Value::as_bool)
            .unwrap_or_default();
        if call.remove(PARTIAL).is_some() || goes_on {
            call.insert("args".to_owned(), IN_PARTS.into());
        }
    }
    reply.to_string().into()
}

/// Returns the reason, which proto3 spells as a number if it is new. Returns `None` if it says nothing.
fn block_reason(reason: &Value) -> Option<String> {
    match reason {
        Value::String(reason) if !UNSPECIFIED.contains(&reason.as_str()) => Some(reason.clone()),
        Value::Number(number) if number.as_u64() != Some(0) => Some(format!("reason {number}")),
        _ => None,
    }
}
