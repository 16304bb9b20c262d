//! Corrects replies of Gemini that rig misreads: blocked prompts, and arguments that arrive in parts.

use std::borrow::Cow;

use serde_json::{Value, json};

/// The reasons that say nothing.
const UNSPECIFIED: [&str; 2] = ["BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED"];

/// The members of a call whose arguments arrive in parts, as the API and as the clients of Python spell them.
const PARTIAL: [&str; 2] = ["partialArgs", "partial_args"];
const GOES_ON: [&str; 2] = ["willContinue", "will_continue"];

/// The arguments of a call that arrive in parts, which are no JSON object, so that the call is refused.
const IN_PARTS: &str =
    "(the service sent the arguments in parts, which this program does not read)";

/// Returns a reply with a blocked prompt as a refusal, and with calls whose arguments arrive in parts as invalid ones.
pub(super) fn read(payload: &str) -> Cow<'_, str> {
    let is_blocked = payload.contains("\"blockReason\"");
    if !is_blocked
        && !PARTIAL
            .iter()
            .chain(&GOES_ON)
            .any(|key| payload.contains(key))
    {
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
        let goes_on = GOES_ON
            .iter()
            .any(|key| call.get(*key).and_then(Value::as_bool).unwrap_or_default());
        if PARTIAL.iter().any(|key| call.remove(*key).is_some()) || goes_on {
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
