//! Deferred tools: those whose definitions a service keeps out of the model's context until a search has found them.
//!
//! rig has no items for searches. Its requests have the result of one as a marked text, and the mark in a field of the body.
//! [`written`] takes out both and writes the service's items. [`read`] turns the searches of a reply into calls, which rig reads.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use agent::{ToolFinder, WireToolSet};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tools::protocol::wire::WireTool;
use tools::{Content, ToolResult};

use super::exact_arguments::Members;
use super::{Api, model_limits};

/// The field of a body that has the mark of the results of searches.
pub(super) const MARK: &str = "toolcrib_mark";

/// The most tools of a request at Anthropic.
const ANTHROPIC_MOST: usize = 10_000;

/// The beginnings of the names of models that know deferred tools.
const ANTHROPIC: [&str; 6] =
    ["claude-fable-5", "claude-haiku-4-5", "claude-opus-4", "claude-opus-5", "claude-sonnet-4", "claude-sonnet-5"];
const OPENAI: [&str; 4] = ["gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6"];

/// A part of the names of OpenAI's models that do not know them.
const NANO: &str = "-nano";

const CALL: &str = "function_call";
const SEARCH_CALL: &str = "tool_search_call";

/// The start of the ids of the service's searches.
const SEARCH_ID: &str = "tsc_";

/// Returns true if the API has deferred tools whose search is ours.
pub(super) fn has_mechanism(api: Api) -> bool {
    matches!(api, Api::Anthropic | Api::OpenAiResponses)
}

/// Returns true if the public service is known to defer tools for the model.
pub(super) fn is_known(api: Api, model: &str) -> bool {
    let known: &[&str] = match api {
        Api::Anthropic => &ANTHROPIC,
        Api::OpenAiResponses if !model.contains(NANO) => &OPENAI,
        _ => &[],
    };
    known.iter().any(|prefix| model.starts_with(prefix)) && model_limits::context(model).is_some()
}

/// Returns true if a request of the API may have this number of tools.
pub(super) fn is_within(api: Api, tools: usize) -> bool {
    api != Api::Anthropic || tools <= ANTHROPIC_MOST
}

/// Returns the definitions of a request: those that it offers, and Anthropic's deferred ones. OpenAI's search is of a type of its own.
pub(super) fn definitions(api: Api, tools: &WireToolSet) -> Value {
    match api {
        Api::Anthropic => tools.list().map(WireTool::value).chain(tools.deferred().map(deferred)).collect(),
        _ => {
            let search = search_name();
            let definition = |tool: &WireTool| if tool.name == search { search_tool(tool) } else { tool.value() };
            tools.list().map(definition).collect()
        }
    }
}

fn deferred(tool: &WireTool) -> Value {
    let mut definition = tool.value();
    definition["defer_loading"] = true.into();
    definition
}

fn search_tool(tool: &WireTool) -> Value {
    let value = tool.value();
    json!({"type": "tool_search", "execution": "client", "description": value["description"], "parameters": value["parameters"]})
}

/// Returns OpenAI's name of the search.
fn search_name() -> Cow<'static, str> {
    Api::OpenAiResponses.format().names().encode(ToolFinder::SEARCH)
}

/// Returns a text that no earlier text contains.
pub(super) fn mark() -> String {
    format!("{MARK}:{:016x}:", RandomState::new().hash_one(MARK))
}

/// Returns the marked text of a search's result. Returns `None` if the result is sent as its own text.
pub(super) fn marked(api: Api, mark: &str, tools: &WireToolSet, called: &str, result: &ToolResult) -> Option<Content> {
    if called != ToolFinder::SEARCH {
        return None;
    }
    let found = ToolFinder::names_in(called, result).filter_map(|name| tools.deferred_tool(name));
    let found: Vec<_> = match api {
        Api::Anthropic => found.map(|tool| json!({"type": "tool_reference", "tool_name": tool.name})).collect(),
        _ => found.map(deferred).collect(),
    };
    match api {
        Api::Anthropic if found.is_empty() => None,
        Api::Anthropic => Some(Content::text(format!("{mark}{}", Value::from(found)))),
        _ => {
            // The output of a search has no place for a text, such as that of an error.
            let text = found.is_empty().then(|| result.to_text());
            Some(Content::text(format!("{mark}{}", json!({"tools": found, "text": text}))))
        }
    }
}

/// Returns the fields beside a call without those of the service's search, for a request that has no search of this kind.
pub(super) fn without_search(mut fields: Map<String, Value>) -> Map<String, Value> {
    if fields.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with(SEARCH_ID)) {
        fields.retain(|name, _| name != "id" && name != "execution");
    }
    fields
}

/// Returns the body of a request with the service's items in place of the marked results and of their calls.
pub(super) fn written(api: Api, body: Bytes) -> Bytes {
    let text = std::str::from_utf8(&body).ok().filter(|text| text.contains(MARK));
    text.and_then(|text| rewritten(api, text)).map_or(body, Bytes::from)
}

/// Returns `None` if the body has no mark.
fn rewritten(api: Api, body: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(body).ok()?;
    let (_, mark) = members.iter().find(|(name, _)| name == MARK)?;
    let mark: String = serde_json::from_str(mark.get()).ok()?;
    let mut fields = Vec::with_capacity(members.len());
    for (name, value) in members.iter().filter(|(name, _)| name != MARK) {
        let value = match (api, name.as_str()) {
            (Api::Anthropic, "messages") => Cow::Owned(with_references(value.get(), &mark)?),
            (Api::OpenAiResponses, "input") => Cow::Owned(with_searches(value.get(), &mark)?),
            _ => Cow::Borrowed(value.get()),
        };
        fields.push(format!("{}:{value}", json!(name)));
    }
    Some(format!("{{{}}}", fields.join(",")))
}

/// Returns the messages with references in the marked results. Other messages keep their bytes.
fn with_references(messages: &str, mark: &str) -> Option<String> {
    let messages: Vec<&RawValue> = serde_json::from_str(messages).ok()?;
    let message = |raw: &RawValue| {
        if !raw.get().contains(mark) {
            return Some(raw.get().to_owned());
        }
        let mut message: Value = serde_json::from_str(raw.get()).ok()?;
        for block in message["content"].as_array_mut()? {
            if let Some(references) = block.pointer("/content/0/text").and_then(|text| unmarked(text, mark)) {
                block["content"] = references;
            }
        }
        Some(message.to_string())
    };
    Some(format!("[{}]", messages.into_iter().map(message).collect::<Option<Vec<_>>>()?.join(",")))
}

/// Returns the items with the outputs of searches in place of the marked results, and the searches in place of their calls. Other items
/// keep their bytes.
fn with_searches(items: &str, mark: &str) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(items).ok()?;
    let (search, mut written) = (search_name(), Vec::with_capacity(items.len()));
    // From the end, so that an output precedes its call.
    let mut answered = Vec::new();
    for raw in items.into_iter().rev() {
        let is_call = !answered.is_empty() && raw.get().contains(CALL);
        if !is_call && !raw.get().contains(mark) {
            written.push(raw.get().to_owned());
            continue;
        }
        let item: Value = serde_json::from_str(raw.get()).ok()?;
        let id = &item["call_id"];
        if let Some(found) = unmarked(&item["output"], mark) {
            if let Some(text) = found["text"].as_str() {
                let content = json!([{"type": "input_text", "text": format!("The search of tools answered: {text}")}]);
                written.push(json!({"type": "message", "role": "user", "content": content}).to_string());
            }
            let output = json!({"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed",
                "tools": found["tools"]});
            written.push(output.to_string());
            answered.push(id.clone());
        } else if let Some(at) = answered.iter().position(|answered| item["type"] == CALL && answered == id)
            && item["name"] == *search
        {
            answered.swap_remove(at);
            written.push(search_call(item).to_string());
        } else {
            written.push(raw.get().to_owned());
        }
    }
    written.reverse();
    Some(format!("[{}]", written.join(",")))
}

/// Returns a call of the search as the service's own item. It has the id of the item if it was one.
fn search_call(mut call: Value) -> Value {
    let arguments = call["arguments"].as_str().and_then(|text| serde_json::from_str(text).ok());
    let arguments: Map<String, Value> = arguments.unwrap_or_default();
    let mut search = json!({"type": SEARCH_CALL});
    if call["id"].as_str().is_some_and(|id| id.starts_with(SEARCH_ID)) {
        search["id"] = call["id"].take();
    }
    search["call_id"] = call["call_id"].take();
    search["execution"] = "client".into();
    search["arguments"] = arguments.into();
    search["status"] = "completed".into();
    search
}

/// Returns the JSON after the mark. Returns `None` if the text does not begin with it.
fn unmarked(text: &Value, mark: &str) -> Option<Value> {
    serde_json::from_str(text.as_str()?.strip_prefix(mark)?).ok()
}

/// Returns the payload of a reply with calls of a function in place of the searches that are ours to make.
pub(super) fn read(api: Api, payload: &str) -> Cow<'_, str> {
    if api != Api::OpenAiResponses || !payload.contains(SEARCH_CALL) {
        return Cow::Borrowed(payload);
    }
    with_calls(payload).map_or(Cow::Borrowed(payload), Cow::Owned)
}

/// Returns a part of a reply with calls in place of searches. Returns `None` if it has no search.
fn with_calls(json: &str) -> Option<String> {
    let Members(members) = serde_json::from_str(json).ok()?;
    if let Some(call) = function_call(&members) {
        return Some(call);
    }
    let mut is_changed = false;
    let mut fields = Vec::with_capacity(members.len());
    for (name, value) in &members {
        let changed = match name.as_str() {
            "item" | "response" => with_calls(value.get()),
            "output" => items_with_calls(value),
            _ => None,
        };
        is_changed |= changed.is_some();
        fields.push(format!("{}:{}", json!(name), changed.as_deref().unwrap_or(value.get())));
    }
    is_changed.then(|| format!("{{{}}}", fields.join(",")))
}

fn items_with_calls(items: &RawValue) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(items.get()).ok()?;
    let changed: Vec<_> = items.iter().map(|item| with_calls(item.get())).collect();
    let texts = items.iter().zip(&changed).map(|(item, changed)| changed.as_deref().unwrap_or(item.get()));
    changed.iter().any(Option::is_some).then(|| format!("[{}]", texts.collect::<Vec<_>>().join(",")))
}

/// Returns a search as a call of a function, with its other fields. Returns `None` for another item and for a search that the service
/// makes itself.
fn function_call(members: &[(String, &RawValue)]) -> Option<String> {
    let get = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value.get());
    if get("type")? != format!("\"{SEARCH_CALL}\"") || get("execution")? != "\"client\"" {
        return None;
    }
    let fields = members.iter().map(|(name, value)| {
        let value = match name.as_str() {
            "type" => json!(CALL).to_string(),
            // Those of a search that has only begun are no part of the arguments that follow.
            "arguments" if get("status") == Some("\"in_progress\"") => json!("").to_string(),
            "arguments" => json!(value.get()).to_string(),
            _ => value.get().to_owned(),
        };
        format!("{}:{value}", json!(name))
    });
    let name = format!("\"name\":{}", json!(search_name()));
    Some(format!("{{{}}}", fields.chain([name]).collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: &str = r#"{"type":"tool_search_call","id":"tsc_1","call_id":"c1","execution":"client","arguments":{"query":"x","limit":123456789012345678901234567890},"status":"completed"}"#;

    #[test]
    fn a_search_becomes_a_call_with_its_arguments_as_they_were_sent() {
        for (payload, place) in [
            (format!(r#"{{"id":"resp_1","output":[{{"type":"message"}},{SEARCH}]}}"#), "/output/1"),
            (format!(r#"{{"type":"response.output_item.done","output_index":1,"item":{SEARCH}}}"#), "/item"),
            (format!(r#"{{"type":"response.completed","response":{{"output":[{SEARCH}]}}}}"#), "/response/output/0"),
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
    fn calls_that_share_an_id_are_told_apart_and_other_items_keep_their_bytes() {
        let mark = mark();
        let call = |name: &str| json!({"type": "function_call", "call_id": "c", "name": name, "arguments": "{}"});
        let output = |text: &str| json!({"type": "function_call_output", "call_id": "c", "output": text});
        let found = format!("{mark}{}", json!({"tools": [{"name": "x"}], "text": null}));
        let other = r#"{"type":"message", "content":1.50}"#;
        let items = [call("tools__search"), output(&found), call("read"), output("text"), call("tools__search")];
        let items = items.map(|item| item.to_string()).join(",");
        let body = format!(r#"{{"model":"m","input":[{other},{items}],"{MARK}":"{mark}","n":1.50}}"#);
        let written = String::from_utf8(written(Api::OpenAiResponses, body.into()).to_vec()).unwrap();
        assert!(written.starts_with(&format!(r#"{{"model":"m","input":[{other},"#)), "{written}");
        assert!(written.ends_with(r#"],"n":1.50}"#), "{written}");
        let body: Value = serde_json::from_str(&written).unwrap();
        let kinds: Vec<_> = body["input"].as_array().unwrap()[1..].iter().map(|item| item["type"].clone()).collect();
        assert_eq!(kinds, [SEARCH_CALL, "tool_search_output", CALL, "function_call_output", CALL]);
    }

    #[test]
    fn a_body_without_the_mark_keeps_its_bytes() {
        for body in [r#"{"messages": [ "toolcrib_mark" ]}"#, r#"{"messages": [], "toolcrib_mark": 1}"#, "toolcrib_mark"]
        {
            assert_eq!(written(Api::Anthropic, body.into()), body);
        }
    }
}
