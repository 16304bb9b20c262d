//! Deferred tools: those whose definitions a service keeps out of the model's context until a search has found them.
//!
//! rig has no items for searches. Its requests have the result of one as a marked text, and the mark in a field of the body.
//! [`written`] takes out both and writes the service's items.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

use agent::{ToolFinder, ToolSet, WireToolSet};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tools::protocol::Message;
use tools::protocol::wire::Strictness;
use tools::{Content, ErrorCode, ToolResult};

use super::exact_arguments::{Members, object_text};
use super::{Api, model_limits};

/// The field of a body that has the mark of the results of searches.
pub(super) const MARK: &str = "toolcrib_mark";

/// The most tools of a request at Anthropic, less those of a search.
const ANTHROPIC_MOST: usize = 10_000 - 2;

/// The most bytes of their definitions. Anthropic takes requests of 32 MB.
const ANTHROPIC_BYTES: usize = 8 << 20;

/// Precedes the text of the host about a search, which the service's item has no place for.
const ABOUT: &str = "About the search of tools:";

/// The beginnings of the names of models that know deferred tools.
const ANTHROPIC: [&str; 6] = [
    "claude-fable-5",
    "claude-haiku-4-5",
    "claude-opus-4",
    "claude-opus-5",
    "claude-sonnet-4",
    "claude-sonnet-5",
];
const OPENAI: [&str; 4] = ["gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6"];

/// A part of the names of OpenAI's models that do not know them.
const NANO: &str = "-nano";

pub(super) const CALL: &str = "function_call";
pub(super) const SEARCH_CALL: &str = "tool_search_call";

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

/// Returns true if a request of the API may have these tools. Anthropic's has all definitions.
pub(super) fn is_within(api: Api, tools: &ToolSet) -> bool {
    let definitions = || {
        tools
            .list()
            .iter()
            .filter_map(|entry| entry.wire(api.format(), Strictness::Relaxed).ok())
    };
    let bytes = || {
        definitions()
            .map(|wire| wire.definition.len())
            .sum::<usize>()
    };
    api != Api::Anthropic || (tools.len() <= ANTHROPIC_MOST && bytes() <= ANTHROPIC_BYTES)
}

/// Adds Anthropic's deferred definitions to those that a request offers. OpenAI's search gets a type of its own.
pub(super) fn defer(api: Api, tools: &WireToolSet, definitions: &mut Vec<Value>) {
    if api == Api::Anthropic {
        definitions.extend(tools.deferred_values().iter().cloned().map(deferred));
        return;
    }
    let search = search_name();
    for definition in definitions
        .iter_mut()
        .filter(|definition| definition["name"] == *search)
    {
        *definition = json!({"type": "tool_search", "execution": "client", "description": definition["description"],
            "parameters": definition["parameters"]});
    }
}

fn deferred(mut definition: Value) -> Value {
    definition["defer_loading"] = true.into();
    definition
}

/// Returns OpenAI's name of the search.
pub(super) fn search_name() -> Cow<'static, str> {
    Api::OpenAiResponses
        .format()
        .names()
        .encode(ToolFinder::SEARCH)
}

/// Returns a text that no earlier text contains.
pub(super) fn mark() -> String {
    format!("{MARK}:{:016x}:", RandomState::new().hash_one(MARK))
}

/// The searches of a request.
pub(super) struct Searches<'a> {
    mark: &'a str,
    tools: &'a WireToolSet,
    /// The ids of the searches, also of those through `tools.call`.
    ids: HashSet<&'a str>,
    /// The names on the wire that OpenAI has got. It refuses a second definition.
    loaded: RefCell<BTreeSet<String>>,
}

impl<'a> Searches<'a> {
    pub(super) fn new(mark: &'a str, tools: &'a WireToolSet, messages: &'a [Message]) -> Self {
        Self {
            mark,
            tools,
            ids: tools.searches(messages),
            loaded: RefCell::default(),
        }
    }

    /// Returns the marked text of a search's result, and the text for the end of the message. Returns `None` if the result is sent as its
    /// own text.
    pub(super) fn marked(
        &self,
        api: Api,
        id: &str,
        called: &str,
        result: &ToolResult,
    ) -> Option<(Content, Vec<Content>)> {
        let found = self
            .tools
            .found(called, result)
            .filter(|_| self.ids.contains(id))?;
        let found: Vec<_> = match api {
            Api::Anthropic => found
                .map(|tool| json!({"type": "tool_reference", "tool_name": tool.name}))
                .collect(),
            // The call of another function has no output with definitions.
            _ if called != ToolFinder::SEARCH => return None,
            _ => {
                let found = found.filter(|tool| self.loaded.borrow_mut().insert(tool.name.clone()));
                found.map(|tool| deferred(tool.value())).collect()
            }
        };
        if api == Api::Anthropic && found.is_empty() {
            return None;
        }
        Some((
            Content::text(format!("{}{}", self.mark, Value::from(found))),
            about(result).into_iter().collect(),
        ))
    }
}

/// Returns the text of the host about a search. It is a part of a prompt, so it has neither the definitions nor the message of an error,
/// which other parties may have written.
fn about(result: &ToolResult) -> Option<Content> {
    let kind = || {
        ErrorCode::from_str(
            result
                .structured
                .as_ref()?
                .value()
                .pointer("/error/kind")?
                .as_str()?,
        )
        .ok()
    };
    let fixed = match (result.is_error, &result.content[..]) {
        (true, _) => Some(format!(
            "It failed with the error {}.",
            kind().unwrap_or(ErrorCode::ExecutionFailed)
        )),
        // A search has at least two texts, and the notice of a compaction is one.
        (false, [_] | []) => {
            Some("Its result is left out here; search again for what you need.".to_owned())
        }
        (false, _) => None,
    };
    // The texts of an error may be those of another program's tool.
    let others = result
        .content
        .iter()
        .skip(1)
        .filter(|_| !result.is_error)
        .filter_map(Content::as_text);
    let lines: Vec<_> = fixed.as_deref().into_iter().chain(others).collect();
    (!lines.is_empty()).then(|| Content::text(format!("{ABOUT}\n{}", lines.join("\n"))))
}

/// Returns the fields beside a call without those of the service's search, for a request that has no search of this kind.
pub(super) fn without_search(mut fields: Map<String, Value>) -> Map<String, Value> {
    if fields
        .get("id")
        .and_then(Value::as_str)
        .is_some_and(|id| id.starts_with(SEARCH_ID))
    {
        fields.retain(|name, _| name != "id" && name != "execution");
    }
    fields
}

/// Returns the body of a request with the service's items in place of the marked results and of their calls.
pub(super) fn written(api: Api, body: Bytes) -> Bytes {
    let text = std::str::from_utf8(&body)
        .ok()
        .filter(|text| text.contains(MARK));
    text.and_then(|text| rewritten(api, text))
        .map_or(body, Bytes::from)
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
        fields.push((name.as_str(), value));
    }
    Some(object_text(fields.into_iter()))
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
            if let Some(references) = block
                .pointer("/content/0/text")
                .and_then(|text| unmarked(text, mark))
            {
                block["content"] = references;
            }
        }
        Some(message.to_string())
    };
    Some(format!(
        "[{}]",
        messages
            .into_iter()
            .map(message)
            .collect::<Option<Vec<_>>>()?
            .join(",")
    ))
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
            let output = json!({"type": "tool_search_output", "call_id": id, "execution": "client", "status": "completed",
                "tools": found});
            written.push(output.to_string());
            answered.push(id.clone());
        } else if let Some(at) = answered
            .iter()
            .position(|answered| item["type"] == CALL && answered == id)
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
    let arguments = call["arguments"]
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    let arguments: Map<String, Value> = arguments.unwrap_or_default();
    let mut search = json!({"type": SEARCH_CALL});
    if call["id"]
        .as_str()
        .is_some_and(|id| id.starts_with(SEARCH_ID))
    {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_share_an_id_are_told_apart_and_other_items_keep_their_bytes() {
        let mark = mark();
        let call = |name: &str| json!({"type": "function_call", "call_id": "c", "name": name, "arguments": "{}"});
        let output =
            |text: &str| json!({"type": "function_call_output", "call_id": "c", "output": text});
        let found = format!("{mark}{}", json!([{"name": "x"}]));
        let other = r#"{"type":"message", "content":1.50}"#;
        let items = [
            call("tools__search"),
            output(&found),
            call("read"),
            output("text"),
            call("tools__search"),
        ];
        let items = items.map(|item| item.to_string()).join(",");
        let body =
            format!(r#"{{"model":"m","input":[{other},{items}],"{MARK}":"{mark}","n":1.50}}"#);
        let written =
            String::from_utf8(written(Api::OpenAiResponses, body.into()).to_vec()).unwrap();
        assert!(
            written.starts_with(&format!(r#"{{"model":"m","input":[{other},"#)),
            "{written}"
        );
        assert!(written.ends_with(r#"],"n":1.50}"#), "{written}");
        let body: Value = serde_json::from_str(&written).unwrap();
        let kinds: Vec<_> = body["input"].as_array().unwrap()[1..]
            .iter()
            .map(|item| item["type"].clone())
            .collect();
        assert_eq!(
            kinds,
            [
                SEARCH_CALL,
                "tool_search_output",
                CALL,
                "function_call_output",
                CALL
            ]
        );
    }

    #[test]
    fn a_body_without_the_mark_keeps_its_bytes() {
        for body in [
            r#"{"messages": [ "toolcrib_mark" ]}"#,
            r#"{"messages": [], "toolcrib_mark": 1}"#,
            "toolcrib_mark",
        ] {
            assert_eq!(written(Api::Anthropic, body.into()), body);
        }
    }
}
