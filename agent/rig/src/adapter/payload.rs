//! Checks the payloads of replies before rig reads them: bodies, and the lines of streams.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::documents::NoDocuments;
use super::{Api, chat_reply, exact_arguments, gemini_reply, message_blocks};

/// A payload under the status of success that is no part of a turn.
#[derive(Debug, thiserror::Error)]
pub(super) enum WrongPayload {
    /// An error that the service reported. Holds its body.
    #[error("the service reported an error in its reply")]
    Error(String),
    #[error("a part of the reply is no JSON: {0}")]
    Garbled(String),
}

impl From<NoDocuments<'_>> for WrongPayload {
    fn from(none: NoDocuments<'_>) -> Self {
        match none {
            NoDocuments::Words(words) => Self::Error(words.to_owned()),
            NoDocuments::Garbled(text) => Self::Garbled(text.chars().take(SHOWN).collect()),
        }
    }
}

/// The most characters of a garbled payload in a message.
const SHOWN: usize = 80;

/// A reply to a stream request is neither a stream nor JSON.
#[derive(Debug, thiserror::Error)]
#[error("the reply has the content type {0:?} and not that of an event stream or of JSON")]
pub(super) struct WrongContentType(pub(super) String);

/// Returns a payload with searches as calls, and the arguments of calls as they were sent.
///
/// # Errors
/// Returns [`WrongPayload`] if the payload is an error.
pub(super) fn checked(api: Api, payload: &str) -> Result<Cow<'_, str>, WrongPayload> {
    if api == Api::Gemini
        && let Some(spelled) = gemini_reply::spelled(payload)
    {
        return Ok(checked(api, &spelled)?.into_owned().into());
    }
    if is_error(payload) {
        return Err(WrongPayload::Error(payload.to_owned()));
    }
    if has_nameless_call(api, payload) {
        let error = json!({"code": "tool_use_failed", "message": "a part of a call has no name"});
        return Err(WrongPayload::Error(json!({"error": error}).to_string()));
    }
    let read = match api {
        Api::Gemini => gemini_reply::read(payload),
        Api::OpenAi => chat_reply::read(payload),
        Api::Anthropic => message_blocks::whole(payload),
        Api::OpenAiResponses | Api::Ollama => Cow::Borrowed(payload),
    };
    Ok(match read {
        Cow::Borrowed(payload) => exact_arguments::kept(api, payload),
        Cow::Owned(payload) => exact_arguments::kept(api, &payload).into_owned().into(),
    })
}

/// Returns true if a reply has arguments without the name of their call, which rig would leave out. Other APIs send calls in fragments.
fn has_nameless_call(api: Api, payload: &str) -> bool {
    let (calls, place, arguments) = match api {
        Api::Gemini => ("/candidates/0/content/parts", "/functionCall", "args"),
        Api::Ollama => ("/message/tool_calls", "/function", "arguments"),
        _ => return false,
    };
    if !payload.contains(&place[1..]) {
        return false;
    }
    let reply: Value = serde_json::from_str(payload).unwrap_or_default();
    let calls = reply
        .pointer(calls)
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    calls
        .filter_map(|call| call.pointer(place)?.as_object())
        .any(|call| {
            let is_named = call
                .get("name")
                .and_then(Value::as_str)
                .is_some_and(|name| !name.is_empty());
            let is_empty = |arguments: &Value| {
                arguments.is_null() || arguments.as_object().is_some_and(Map::is_empty)
            };
            !is_named
                && call
                    .get(arguments)
                    .is_some_and(|arguments| !is_empty(arguments))
        })
}

/// The members that say in a reply without choices that it is an error.
const WORDS: [&str; 2] = ["message", "detail"];

/// Returns true if the payload is an object with an error. rig takes some of them for the end of a turn, such as OpenRouter's with
/// choices, and ignores those that another API would send.
fn is_error(payload: &str) -> bool {
    // Most payloads are not parsed.
    if !payload.contains("\"error\"")
        && !WORDS
            .iter()
            .any(|word| payload.contains(&format!("\"{word}\":")))
    {
        return false;
    }
    let Ok(value) = serde_json::from_str::<Value>(payload) else {
        return false;
    };
    let is_named = [value.get("error"), value.pointer("/choices/0/error")]
        .into_iter()
        .flatten()
        .any(|error| match error {
            Value::Object(error) => !error.is_empty(),
            Value::String(error) => !error.is_empty(),
            _ => false,
        });
    let is_worded = || {
        WORDS.iter().any(|word| {
            value
                .get(word)
                .is_some_and(|words| words.is_string() || words.is_array())
        })
    };
    let is_reply = || {
        ["choices", "type", "candidates"]
            .iter()
            .any(|member| value.get(member).is_some())
    };
    is_named
        || value.get("object").is_some_and(|object| object == "error")
        || is_worded() && !is_reply()
}
