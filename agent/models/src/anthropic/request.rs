//! Writes the requests of messages.

use serde_json::{Value, json};
use tools::Content;

use crate::conversation::{ResultShown, Said, Unit, with};
use crate::profile::{Profile, RequestParts};
use crate::request_body::RequestBody;
use crate::settings::ForcedCall;

/// Returns true if an item is not sent alone.
pub(crate) fn is_thought(item: &Value) -> bool {
    matches!(
        item["type"].as_str(),
        Some("thinking" | "redacted_thinking")
    )
}

/// Returns the messages of a unit.
pub(crate) fn messages(model: &Profile, unit: Unit<'_>) -> Vec<Value> {
    let (role, content) = match unit {
        Unit::System(text) => ("system", vec![text_block(&text)]),
        Unit::User { results, content } => ("user", user(model, results, &content)),
        Unit::Assistant(said) => ("assistant", assistant(model, said)),
    };
    vec![json!({"role": role, "content": content})]
}

fn user(model: &Profile, results: Vec<ResultShown<'_>>, content: &[Content]) -> Vec<Value> {
    let results = results.into_iter().map(|result| {
        let content: Vec<_> = result.content.iter().map(block).collect();
        let id = model.call_id(result.id);
        let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        if result.is_error {
            block["is_error"] = true.into();
        }
        block
    });
    // Results come first, because the service refuses a message in which other content precedes them.
    results.chain(content.iter().map(block)).collect()
}

fn block(content: &Content) -> Value {
    match content {
        Content::Image { data, mime_type } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}})
        }
        content => text_block(content.as_text().unwrap_or_default()),
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn assistant(model: &Profile, mut said: Vec<Said<'_>>) -> Vec<Value> {
    retain_paired(&mut said);
    // The service refuses a message that ends with a thought.
    while matches!(said.last(), Some(Said::Item(item)) if is_thought(item)) {
        said.pop();
    }
    let blocks = said.into_iter().map(|said| match said {
        Said::Text { text, beside } => with(text_block(&text), beside),
        Said::Call { call, beside } => {
            let id = model.call_id(&call.id);
            with(
                json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments.into_value()}),
                beside,
            )
        }
        Said::Item(item) => item.clone(),
        Said::Image { mime_type, .. } => text_block(&format!("[an image of type {mime_type}]")),
    });
    blocks.collect()
}

/// Removes the calls of the service's own tools that have no result, and results without a call. A call at the end of a turn goes on, and
/// its result is at the beginning of the next one.
fn retain_paired(said: &mut Vec<Said<'_>>) {
    let id = |said: &Said<'_>, end: &str, name: &str| match said {
        Said::Item(item) if item["type"].as_str()?.ends_with(end) => {
            Some(item[name].as_str()?.to_owned())
        }
        _ => None,
    };
    let call = |said: &Said<'_>| id(said, "_tool_use", "id");
    let result = |said: &Said<'_>| id(said, "_tool_result", "tool_use_id");
    let is_text = |said: &Said<'_>| matches!(said, Said::Text { .. });
    let kept = said.iter().enumerate().map(|(at, part)| {
        let before = &said[..at];
        let after = &said[at..];
        let is_answered =
            |id: &String| after.iter().any(|other| result(other).as_ref() == Some(id));
        let is_called = |id: &String| before.iter().any(|other| call(other).as_ref() == Some(id));
        call(part).is_none_or(|id| is_answered(&id) || !after.iter().any(is_text))
            && result(part).is_none_or(|id| is_called(&id) || !before.iter().any(is_text))
    });
    let kept: Vec<_> = kept.collect();
    let mut kept = kept.into_iter();
    said.retain(|_| kept.next().unwrap_or_default());
}

/// Adds the fields of a request after the messages.
pub(crate) fn body(model: &Profile, parts: &RequestParts<'_>, body: &mut RequestBody) {
    let marker = json!({"type": "ephemeral"});
    let limit = parts.output_limit.unwrap_or(model.output_limit);
    body.field("max_tokens", &limit.into());
    if !parts.system.is_empty() {
        let mut system: Vec<_> = parts.system.iter().map(|text| text_block(text)).collect();
        if let Some(last) = system.last_mut().filter(|_| model.caching) {
            last["cache_control"] = marker.clone();
        }
        body.field("system", &system.into());
    }
    if parts.tools.list().len() > 0 {
        let definitions = parts.tools.definitions();
        // The marker is spliced into the text: the definitions are rendered once for each tool set, and a tree of them would be written in
        // each request.
        match definitions.strip_suffix("}]").filter(|_| model.caching) {
            Some(open) => body.text("tools", &format!("{open},\"cache_control\":{marker}}}]")),
            None => body.text("tools", definitions),
        }
        if let Some(choice) = &parts.forced_call {
            let choice = match choice {
                ForcedCall::None => json!({"type": "none"}),
                ForcedCall::Any => json!({"type": "any"}),
                ForcedCall::Tool(name) => json!({"type": "tool", "name": name}),
            };
            body.field("tool_choice", &choice);
        }
    }
    if model.caching {
        // The markers on tools and system text do not cover the conversation.
        body.field("cache_control", &marker);
    }
    if parts.streaming {
        body.field("stream", &true.into());
    }
}
