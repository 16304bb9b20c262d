//! Finds calls that a model wrote as text, in the notations that models are trained with.

use serde_json::{Map, Value, json};
use tools::ToolCall;

use crate::{ToolSet, WireToolSet};

/// The keys of a call's name and arguments in JSON.
const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];
const ARGUMENTS: [&str; 5] = ["arguments", "parameters", "args", "input", "tool_input"];

/// The texts before a call's name that need no JSON.
const BEFORE_NAMES: [&str; 6] = [
    "<function=",
    "<invoke name=\"",
    "<function name=\"",
    "<tool_call>",
    "[TOOL_CALLS]",
    "Action: ",
];

/// The ends of the text before a call in JSON: a fence, or a tag.
const BEFORE_JSON: [&str; 7] = [
    "```json",
    "```",
    "```tool_call",
    ">",
    "[TOOL_CALLS]",
    "[TOOL_CALLS] [",
    "[",
];

/// The most objects of a text that are looked at.
const MAX_OBJECTS: usize = 64;

/// Returns the tool whose call a text has. Returns `None` if it has no call of a tool of the set.
pub(super) fn written_call(
    text: &str,
    tools: &ToolSet,
    wire: Option<&WireToolSet>,
) -> Option<String> {
    let known = |name: &str| known(name, tools, wire);
    let in_json = || {
        let starts = text
            .match_indices('{')
            .map(|(at, _)| at)
            .filter(|at| can_be_call(text[..*at].trim_end()));
        starts.take(MAX_OBJECTS).find_map(|at| {
            let object = serde_json::Deserializer::from_str(&text[at..])
                .into_iter::<Map<String, Value>>()
                .next()?
                .ok()?;
            named(&object).and_then(known)
        })
    };
    let in_tag = || {
        BEFORE_NAMES
            .iter()
            .flat_map(|before| text.match_indices(before).map(|(at, tag)| at + tag.len()))
            .find_map(|at| {
                let rest = text[at..].trim_start();
                let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
                known(&rest[..end])
            })
    };
    // Python's notation counts only as the whole text.
    let in_python = || {
        let fenced = || {
            text.trim()
                .strip_prefix("```")?
                .strip_suffix("```")?
                .split_once('\n')
        };
        let call = fenced()
            .map_or(text, |(_, inner)| inner)
            .trim()
            .trim_start_matches('[');
        let (name, rest) = call.split_once('(')?;
        (name.chars().all(is_of_name) && rest.trim_end_matches(']').ends_with(')'))
            .then(|| known(name))?
    };
    in_json().or_else(in_tag).or_else(in_python)
}

fn can_be_call(before: &str) -> bool {
    before.is_empty() || BEFORE_JSON.iter().any(|end| before.ends_with(end))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/".contains(c)
}

/// Returns the name in an object that has a name and arguments.
fn named(object: &Map<String, Value>) -> Option<&str> {
    let has_arguments =
        |object: &Map<String, Value>| ARGUMENTS.iter().any(|key| object.contains_key(*key));
    match object.get("function") {
        Some(Value::Object(function)) if has_arguments(function) => function.get("name")?.as_str(),
        _ if has_arguments(object) => NAMES.iter().find_map(|key| object.get(*key)?.as_str()),
        _ => None,
    }
}

fn known(name: &str, tools: &ToolSet, wire: Option<&WireToolSet>) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let call = ToolCall::new("", name, json!({}));
    let name = wire.map_or_else(|| name.to_owned(), |wire| wire.read_call(call).name);
    tools.get(&name).ok().map(|entry| entry.name().to_string())
}

#[cfg(test)]
mod tests {
    use tools::protocol::wire::{Format, Strictness};
    use tools::{Catalog, Effects, Services, Tool, ToolContext};

    use super::*;
    use crate::Selection;

    #[test]
    fn calls_are_found_in_the_notations_of_models_and_nowhere_else() {
        let mut catalog = Catalog::new();
        let tool = Tool::new("fs.read", "Reads.", json!({"type": "object"}))
            .unwrap()
            .with_effects(Effects::Pure);
        catalog
            .register(tool, async |_: ToolContext, _: Value| "text")
            .unwrap();
        let tools = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
        let wire = tools.wire(Format::OpenAiChat, Strictness::Relaxed);
        for text in [
            "<tool_call>\n{\"name\": \"fs__read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
            "I read it.\n```json\n{\"name\": \"fs.read\", \"arguments\": {}}\n```",
            "{\"name\": \"fs_read\", \"parameters\": {\"path\": \"a\"}}",
            "[{\"name\": \"fs__read\", \"arguments\": {}}]",
            "{\"type\": \"function\", \"function\": {\"name\": \"fs__read\", \"arguments\": \"{}\"}}",
            "<function=fs__read>\n<parameter=path>a</parameter>\n</function>",
            "<function_calls><invoke name=\"fs__read\"></invoke></function_calls>",
            "[TOOL_CALLS][{\"name\": \"fs__read\", \"arguments\": {}}]",
            "[TOOL_CALLS]fs__read{\"path\": \"a\"}",
            "[fs__read(path=\"a\")]",
            "```tool_code\nfs__read(path=\"a\")\n```",
            "Thought: I look.\nAction: fs__read\nAction Input: {}",
            "{\"tool\": \"fs__read\", \"args\": {}}",
        ] {
            assert_eq!(
                written_call(text, &tools, Some(wire)).as_deref(),
                Some("fs.read"),
                "{text}"
            );
        }
        for text in [
            "The tool fs.read takes {\"name\": \"fs__read\", \"arguments\": {}} as its call.",
            "{\"name\": \"fs__write\", \"arguments\": {}}",
            "{\"name\": \"fs__read\"}",
            "```json\n{\"arguments\": [1]}\n```",
            "Call fs__read(path) to read.",
            "",
        ] {
            assert_eq!(written_call(text, &tools, Some(wire)), None, "{text}");
        }
    }
}
