//! Finds the arguments of calls that a service gives under the name of another API. rig would run such a call without any.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::Api;
use super::exact_arguments::{MAX_DEPTH, Members};

/// The names of the arguments of a call, in all APIs.
const NAMES: [&str; 4] = ["arguments", "args", "input", "parameters"];

/// Returns a payload whose calls have their arguments under the name of the API.
pub(super) fn own(api: Api, payload: &str) -> Cow<'_, str> {
    let own = match api {
        Api::Anthropic => "input",
        Api::Gemini => "args",
        Api::OpenAi | Api::Ollama => "arguments",
        // Its replies repeat the definitions of the tools, which have parameters.
        Api::OpenAiResponses => return Cow::Borrowed(payload),
    };
    let is_other = |name: &&str| **name != *own && payload.contains(&format!("\"{name}\""));
    if !NAMES.iter().any(is_other) {
        return Cow::Borrowed(payload);
    }
    let mut places = Vec::new();
    collect(own, payload, payload, 0, &mut places);
    let mut named = Cow::Borrowed(payload);
    for place in places.into_iter().rev() {
        named.to_mut().replace_range(place, &format!("\"{own}\""));
    }
    named
}

/// Adds the places of other names in `json`, a part of the payload.
fn collect(own: &str, payload: &str, json: &str, depth: usize, places: &mut Vec<Range<usize>>) {
    if depth == MAX_DEPTH {
        return;
    }
    if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(json) {
        return elements
            .into_iter()
            .for_each(|element| collect(own, payload, element.get(), depth + 1, places));
    }
    let Ok(Members(members)) = serde_json::from_str(json) else {
        return;
    };
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    // A definition of a tool has a description.
    let (is_call, is_named) = (has("name") && !has("description"), has(own));
    for (key, value) in members {
        if !is_call || !NAMES.contains(&&*key) {
            collect(own, payload, value.get(), depth + 1, places);
        } else if !is_named {
            // Both are parts of one text.
            let end = value.get().as_ptr().addr() - payload.as_ptr().addr();
            let name = format!("\"{key}\"");
            let at = payload[..end].rfind(&name);
            places.extend(at.map(|at| at..at + name.len()));
        }
    }
}
