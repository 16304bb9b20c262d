//! Turns the searches of a reply, which rig does not know, into calls of a function.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use super::Api;
use super::deferred::{CALL, SEARCH_CALL, search_name};
use super::exact_arguments::{Members, object_text};

/// Returns the payload of a reply with calls of a function in place of the searches that are ours to make.
pub(super) fn read(api: Api, payload: &str) -> Cow<'_, str> {
    if api != Api::OpenAiResponses || !payload.contains(SEARCH_CALL) {
        return Cow::Borrowed(payload);
    }
    with_calls(payload).map_or(Cow::Borrowed(payload), Cow::Owned)
}

/// Returns a reply with calls in place of searches, which are its items, those of its response, or its one item. Returns `None` if it has
/// no search. A reply may be nested without limit, so nothing here recurses.
fn with_calls(payload: &str) -> Option<String> {
    let items = |response: &RawValue| with_member(response.get(), "output", items_with_calls);
    with_member(payload, "item", |item| function_call(item.get()))
        .or_else(|| with_member(payload, "output", items_with_calls))
        .or_else(|| with_member(payload, "response", items))
}

/// Returns an object with another value of this member. Returns `None` if the member does not change.
fn with_member(
    object: &str,
    name: &str,
    change: impl FnOnce(&RawValue) -> Option<String>,
) -> Option<String> {
    let Members(members) = serde_json::from_str(object).ok()?;
    let at = members.iter().position(|(key, _)| key == name)?;
    let changed = change(members[at].1)?;
    Some(object_text(members.iter().enumerate().map(
        |(index, (key, raw))| {
            let value = if index == at {
                changed.as_str()
            } else {
                raw.get()
            };
            (key.as_str(), Cow::Borrowed(value))
        },
    )))
}

fn items_with_calls(items: &RawValue) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(items.get()).ok()?;
    let changed: Vec<_> = items.iter().map(|item| function_call(item.get())).collect();
    let texts = items
        .iter()
        .zip(&changed)
        .map(|(item, changed)| changed.as_deref().unwrap_or(item.get()));
    changed
        .iter()
        .any(Option::is_some)
        .then(|| format!("[{}]", texts.collect::<Vec<_>>().join(",")))
}

/// Returns a search as a call of a function, with its other fields. Returns `None` for another item and for a search that the service
/// makes itself.
fn function_call(item: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(item).ok()?;
    let get = |name: &str| {
        members
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.get())
    };
    if get("type")? != format!("\"{SEARCH_CALL}\"") || get("execution")? != "\"client\"" {
        return None;
    }
    let fields = members.iter().map(|(name, value)| {
        let value = match name.as_str() {
            "type" => json!(CALL).to_string().into(),
            // Those of a search that has only begun are no part of the arguments that follow.
            "arguments" if get("status") == Some("\"in_progress\"") => json!("").to_string().into(),
            "arguments" => json!(value.get()).to_string().into(),
            _ => Cow::Borrowed(value.get()),
        };
        (name.as_str(), value)
    });
    Some(object_text(
        fields.chain([("name", json!(search_name()).to_string().into())]),
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const SEARCH: &str = r#"{"type":"tool_search_call","id":"tsc_1","call_id":"c1","execution":"client","arguments":{"query":"x","limit":123456789012345678901234567890},"status":"completed"}"#;

    #[test]
    fn a_search_becomes_a_call_with_its_arguments_as_they_were_sent() {
        for (payload, place) in [
            (
                format!(r#"{{"id":"resp_1","output":[{{"type":"message"}},{SEARCH}]}}"#),
                "/output/1",
            ),
            (
                format!(
                    r#"{{"type":"response.output_item.done","output_index":1,"item":{SEARCH}}}"#
                ),
                "/item",
            ),
            (
                format!(r#"{{"type":"response.completed","response":{{"output":[{SEARCH}]}}}}"#),
                "/response/output/0",
            ),
        ] {
            let call: Value = serde_json::from_str(&read(Api::OpenAiResponses, &payload)).unwrap();
            let call = call.pointer(place).unwrap();
            let arguments = r#"{"query":"x","limit":123456789012345678901234567890}"#;
            let expected = json!({"type": "function_call", "id": "tsc_1", "call_id": "c1", "execution": "client",
                "arguments": arguments, "status": "completed", "name": "tools__search"});
            assert_eq!(call, &expected);
            assert!(matches!(read(Api::Anthropic, &payload), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn a_search_that_has_only_begun_has_no_arguments_yet() {
        let begun = SEARCH.replace("completed", "in_progress");
        let payload = format!(r#"{{"type":"response.output_item.added","item":{begun}}}"#);
        let event: Value = serde_json::from_str(&read(Api::OpenAiResponses, &payload)).unwrap();
        assert_eq!(event["item"]["arguments"], "");
    }

    #[test]
    fn a_search_by_the_service_and_a_text_about_one_pass_unchanged() {
        let served = SEARCH.replace("\"client\"", "\"server\"");
        for payload in [
            format!(r#"{{"output":[{served}]}}"#),
            json!({"output": [{"type": "message", "content": [{"type": "output_text", "text": SEARCH}]}]}).to_string(),
            json!({"type": "response.output_text.delta", "delta": "tool_search_call"}).to_string(),
            format!("{SEARCH}]"),
        ] {
            assert!(
                matches!(read(Api::OpenAiResponses, &payload), Cow::Borrowed(same) if same == payload),
                "{payload}"
            );
        }
    }

    #[test]
    fn a_reply_of_any_depth_is_read() {
        let depth = 200_000;
        for (open, close) in [
            (r#"{"item":"#, "}"),
            (r#"{"response":"#, "}"),
            (r#"{"output":["#, "]}"),
        ] {
            let payload = [open.repeat(depth), SEARCH.to_owned(), close.repeat(depth)].concat();
            assert!(matches!(
                read(Api::OpenAiResponses, &payload),
                Cow::Borrowed(_)
            ));
        }
    }
}
