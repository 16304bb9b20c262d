//! Keeps the arguments of calls as they were sent.
//!
//! rig reads arguments leniently: of a repeated key the last value counts, an integer beyond 64 bits is rounded, and a string that
//! holds an object becomes the object. Such arguments are passed to rig as text that it cannot read, and therefore keeps.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use tools::Json;
use tools::protocol::json::{InvalidJson, Kind};

use super::Api;

/// The start of arguments that rig keeps as text. No JSON begins with it.
const MARK: char = '\u{1}';

/// The members of a call that may hold its arguments, in the APIs of Anthropic, Gemini, and OpenAI and Ollama.
const INPUT: &str = "input";
pub(super) const ARGS: &str = "args";
const ARGUMENTS: &str = "arguments";

/// Returns the payload of a reply with each call's arguments as text if rig would change them.
pub(super) fn kept(api: Api, payload: &str) -> Cow<'_, str> {
    if ![INPUT, ARGS, ARGUMENTS]
        .iter()
        .any(|key| payload.contains(&format!("\"{key}\"")))
    {
        return Cow::Borrowed(payload);
    }
    let mut changed = Vec::new();
    collect(api, payload, payload, 0, &mut changed);
    let mut kept = String::new();
    let mut end = 0;
    for (range, text) in &changed {
        kept += &payload[end..range.start];
        kept += &Value::from(format!("{MARK}{text}")).to_string();
        end = range.end;
    }
    if changed.is_empty() {
        Cow::Borrowed(payload)
    } else {
        Cow::Owned(kept + &payload[end..])
    }
}

/// Returns the text that was sent for arguments that [`kept`] marked, or else the text itself.
pub(super) fn unmarked(text: String) -> String {
    // rig quotes the text where an API has arguments as objects.
    let quoted = serde_json::from_str::<String>(&text)
        .ok()
        .filter(|inner| inner.starts_with(MARK));
    let text = quoted.unwrap_or(text);
    text.strip_prefix(MARK).map(str::to_owned).unwrap_or(text)
}

/// The most levels at which a reply holds a call.
pub(super) const MAX_DEPTH: usize = 12;

/// An argument value to replace: its place in the payload, and its text.
type Changed<'a> = (Range<usize>, Cow<'a, str>);

/// Adds the arguments in `json`, a part of the payload, that rig would change.
fn collect<'a>(
    api: Api,
    payload: &str,
    json: &'a str,
    depth: usize,
    changed: &mut Vec<Changed<'a>>,
) {
    if depth == MAX_DEPTH {
        return;
    }
    if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(json) {
        return elements
            .into_iter()
            .for_each(|element| collect(api, payload, element.get(), depth + 1, changed));
    }
    let Ok(Members(members)) = serde_json::from_str(json) else {
        return;
    };
    let is_call = members
        .iter()
        .any(|(key, value)| key == "name" && value.get().starts_with('"'));
    for (key, value) in members {
        match (is_call, key.as_str()) {
            (true, INPUT | ARGS | ARGUMENTS) => {
                // Both are parts of one text.
                let start = value.get().as_ptr().addr() - payload.as_ptr().addr();
                let text = sent_text(api, &key, value.get()).filter(|text| is_changed(text));
                changed.extend(text.map(|text| (start..start + value.get().len(), text)));
            }
            _ => collect(api, payload, value.get(), depth + 1, changed),
        }
    }
}

/// Returns the text of arguments. Returns `None` if rig keeps them in any case, as it keeps a piece of a stream.
fn sent_text<'a>(api: Api, key: &str, value: &'a str) -> Option<Cow<'a, str>> {
    match (key, value.starts_with('"')) {
        // Those of Ollama are an object.
        (ARGUMENTS, true) if api != Api::Ollama => serde_json::from_str(value).ok().map(Cow::Owned),
        _ => Some(Cow::Borrowed(value)),
    }
}

/// Returns true if rig would change these arguments.
fn is_changed(text: &str) -> bool {
    match Json::parse(text) {
        Ok(json) => json.extent().has_big_integer || matches!(json.node().kind(), Kind::String(_)),
        Err(InvalidJson::Syntax { .. }) => false,
        Err(_) => true,
    }
}

/// The members of an object, with repeated keys.
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    members.push((key, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept_arguments(api: Api, payload: &str, place: &str) -> String {
        let kept: Value = serde_json::from_str(&kept(api, payload)).unwrap();
        unmarked(
            kept.pointer(place)
                .unwrap()
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        )
    }

    const DIGITS: &str = "123456789012345678901234567890";

    #[test]
    fn arguments_that_rig_would_change_stay_text_in_every_api() {
        let repeated = r#"{"a": 1, "b": {"c": 1, "c": 2}}"#;
        let integer = &format!(r#"{{"a": {DIGITS}}}"#);
        for arguments in [repeated, integer] {
            let quoted = json!(arguments);
            for (api, payload, place) in [
                (
                    Api::Anthropic,
                    format!(
                        r#"{{"content":[{{"type":"tool_use","name":"x","input":{arguments}}}]}}"#
                    ),
                    "/content/0/input",
                ),
                (
                    Api::Gemini,
                    format!(
                        r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"x","args":{arguments}}}}}]}}}}]}}"#
                    ),
                    "/candidates/0/content/parts/0/functionCall/args",
                ),
                (
                    Api::Ollama,
                    format!(
                        r#"{{"message":{{"tool_calls":[{{"function":{{"name":"x","arguments":{arguments}}}}}]}}}}"#
                    ),
                    "/message/tool_calls/0/function/arguments",
                ),
                (
                    Api::OpenAiResponses,
                    format!(
                        r#"{{"output":[{{"type":"function_call","name":"x","arguments":{quoted}}}]}}"#
                    ),
                    "/output/0/arguments",
                ),
            ] {
                assert_eq!(kept_arguments(api, &payload, place), arguments);
            }
        }
    }

    #[test]
    fn a_string_that_holds_json_stays_a_string() {
        let input = r#"{"name":"x","input":"{\"a\":1}"}"#;
        assert_eq!(
            kept_arguments(Api::Anthropic, input, "/input"),
            r#""{\"a\":1}""#
        );
        let twice =
            json!({"name": "x", "arguments": json!(json!({"a": 1}).to_string()).to_string()});
        assert_eq!(
            kept_arguments(Api::OpenAi, &twice.to_string(), "/arguments"),
            r#""{\"a\":1}""#
        );
        let once = json!({"name": "x", "arguments": json!({"a": 1}).to_string()}).to_string();
        assert_eq!(
            kept_arguments(Api::Ollama, &once, "/arguments"),
            r#""{\"a\":1}""#
        );
    }

    #[test]
    fn everything_else_passes_unchanged() {
        for payload in [
            r#"{"name": "x", "input": {"a": 1.5, "b": "{}"}, "text": "é"}"#,
            r#"{"name": "x", "arguments": "{\"a\": 18446744073709551615}"}"#,
            r#"{"name": "x", "arguments": "{\"a\": 1"}"#,
            r#"{"input": {"a": 1, "a": 2}}"#,
            r#"{"name": "x", "input": null, "arguments": ""}"#,
            "[DONE] \"input\"",
            "",
        ] {
            assert!(
                matches!(kept(Api::OpenAi, payload), Cow::Borrowed(same) if same == payload),
                "{payload}"
            );
        }
    }
}
