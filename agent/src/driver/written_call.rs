//! Finds calls that a model wrote as text, in the notations that models are trained with.

use serde_json::{Map, Value, json};
use tools::ToolCall;

use crate::tool_set::ToolSet;
use crate::wire_tool_set::WireToolSet;

/// The keys of a call's name and arguments in JSON.
const NAMES: [&str; 5] = ["name", "tool", "tool_name", "function", "action"];
const ARGUMENTS: [&str; 6] = [
    "arguments",
    "parameters",
    "args",
    "input",
    "tool_input",
    "action_input",
];

/// The texts before a call's name that need no JSON: of Llama, Claude and DeepSeek, Qwen and GLM, Mistral, ReAct, DeepSeek before,
/// Kimi, gpt-oss, Functionary, FunctionGemma, and of blocks.
const BEFORE_NAMES: [&str; 13] = [
    "<function=",
    "invoke name=\"",
    "<function name=\"",
    "<tool_call>",
    "[TOOL_CALLS]",
    "Action: ",
    "<｜tool▁sep｜>",
    "<|tool_call_begin|>",
    " to=",
    ">>>",
    "call:",
    "<function_calls>",
    "```tool\n",
];

/// The ends of the text before a call in JSON: a line, a fence, or a tag.
const BEFORE_JSON: [&str; 6] = [
    "```json",
    "```tool_call",
    ">",
    "[TOOL_CALLS]",
    "[TOOL_CALLS] [",
    "[",
];

/// The marks around a call in Python's notation: of code blocks, and of LFM2.
const AROUND_PYTHON: [(&str, &str); 3] = [
    ("```tool_code", "```"),
    ("```python", "```"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
];

/// The texts that begin the line of a call, whatever follows.
const MARKS: [&str; 11] = [
    "<tool_call>",
    "<tool_calls>",
    "<function_call>",
    "<functioncall>",
    "<function_calls>",
    "<tool>",
    "<|tool_call|>",
    "&lt;tool_call&gt;",
    "[TOOL_REQUEST]",
    "[TOOL_CALLS]",
    "```tool_call",
];

/// The most words behind a mark among which is the name of the tool.
const MAX_WORDS: usize = 8;

/// The most objects of a text that are looked at.
const MAX_OBJECTS: usize = 64;

/// Returns the tool whose call a text has. Returns `None` if it has no call of a tool of the set.
pub(super) fn written_call(
    text: &str,
    tools: &ToolSet,
    wire: Option<&WireToolSet>,
) -> Option<String> {
    let text = text.trim();
    let known = |name: &str| find_tool(name, tools, wire);
    json_names(text)
        .find_map(|name| known(&name))
        .or_else(|| marked_names(text).find_map(known))
        .or_else(|| python_name(text).and_then(known))
        .or_else(|| tag_name(text).and_then(known))
        .or_else(|| words_behind_marks(text).find_map(known))
}

/// Returns the names of the calls in JSON.
fn json_names(text: &str) -> impl Iterator<Item = String> {
    text.match_indices('{')
        .map(|(at, _)| at)
        // An object inside of a sentence is an example, which a model may give in an answer.
        .filter(|at| can_be_call(&text[..*at]))
        .take(MAX_OBJECTS)
        .filter_map(|at| {
            let object = serde_json::Deserializer::from_str(&text[at..])
                .into_iter::<Map<String, Value>>()
                .next()?
                .ok()?;
            call_name(&object).map(str::to_owned)
        })
}

/// Returns the names behind marks.
fn marked_names(text: &str) -> impl Iterator<Item = &str> {
    BEFORE_NAMES
        .iter()
        .flat_map(|before| text.match_indices(before).map(|(at, mark)| at + mark.len()))
        .map(|at| {
            let rest = text[at..].trim_start();
            // The namespace of gpt-oss and Kimi. Kimi's names have a number behind them.
            let rest = rest.strip_prefix("functions.").unwrap_or(rest);
            let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
            let name = &rest[..end];
            name.rsplit_once(':')
                .filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()))
                .map_or(name, |(name, _)| name)
        })
}

/// Returns the words of calls whose JSON is broken, of which one is the name.
fn words_behind_marks(text: &str) -> impl Iterator<Item = &str> {
    MARKS
        .iter()
        .flat_map(|mark| text.match_indices(mark))
        .filter(|(at, _)| can_be_call(&text[..*at]))
        .flat_map(|(at, mark)| {
            text[at + mark.len()..]
                .split(|c| !is_of_name(c))
                .filter(|word| !word.is_empty())
                .take(MAX_WORDS)
        })
}

/// Returns the name of a call in Python's notation, which counts only as the whole text.
fn python_name(text: &str) -> Option<&str> {
    let inner = AROUND_PYTHON
        .iter()
        .find_map(|(start, end)| text.strip_prefix(start)?.strip_suffix(end))
        .unwrap_or(text)
        .trim();
    let call = inner.trim_start_matches('[').trim_end_matches(']');
    let call = call
        .strip_prefix("print(")
        .and_then(|call| call.strip_suffix(')'))
        .unwrap_or(call);
    let (name, rest) = call.split_once('(')?;
    (name.chars().all(is_of_name) && rest.ends_with(')')).then_some(name)
}

/// Returns the name of a tag around the whole text.
fn tag_name(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix('<')?.split_once('>')?;
    let (_, end) = text.strip_suffix('>')?.rsplit_once("</")?;
    (end == name).then_some(name)
}

fn can_be_call(before: &str) -> bool {
    let last = before.trim_end();
    before.is_empty() || before.ends_with('\n') || BEFORE_JSON.iter().any(|end| last.ends_with(end))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:/".contains(c)
}

/// Returns the name in an object that has a name and arguments, or the name alone as the key of its arguments.
fn call_name(object: &Map<String, Value>) -> Option<&str> {
    let has_arguments =
        |object: &Map<String, Value>| ARGUMENTS.iter().any(|key| object.contains_key(*key));
    match object.get("function") {
        Some(Value::Object(function)) if has_arguments(function) => function.get("name")?.as_str(),
        _ if has_arguments(object) => NAMES.iter().find_map(|key| object.get(*key)?.as_str()),
        _ => match object.iter().next()? {
            (name, Value::Object(_)) if object.len() == 1 => Some(name),
            _ => None,
        },
    }
}

fn find_tool(name: &str, tools: &ToolSet, wire: Option<&WireToolSet>) -> Option<String> {
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
    use crate::selection::Selection;

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
            "{\"action\": \"fs__read\", \"action_input\": {}}",
            "I read it now:\n\n{\"name\": \"fs__read\", \"arguments\": {}}\n\nThen I report.",
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>fs__read\n```json\n{\"path\": \"a\"}\n```<｜tool▁call▁end｜>",
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"fs__read\">",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.fs__read:0<|tool_call_argument_begin|>{\"path\": \"a\"}",
            "<|channel|>commentary to=functions.fs__read <|constrain|>json<|message|>{\"path\": \"a\"}<|call|>",
            ">>>fs__read\n{\"path\": \"a\"}",
            "```tool_code\nprint(fs__read(path=\"a\"))\n```",
            "<start_function_call>call:fs__read{path:<escape>a<escape>}<end_function_call>",
            "<|tool_call_start|>[fs__read(path=\"a\")]<|tool_call_end|>",
            "<function_calls>fs__read(path=\"a\")</function_calls>",
            "<|tools_prefix|>[{\"fs__read\": {\"path\": \"a\"}}]<|tools_suffix|>",
            "{\"fs__read\": {\"path\": \"a\"}}",
            "<fs__read>\n<path>a</path>\n</fs__read>",
            "```tool\nfs__read {\"path\": \"a\"}\n```",
            "<tool_call>\n{'name': 'fs__read', 'arguments': {'path': 'a'}}\n</tool_call>",
            "I read it.\n<tool_call>{\"name\": \"fs__read\", \"arguments\": {\"path\": \"a\",}}</tool_call>",
            "<tool_call>\n{{\"name\": \"fs__read\", \"arguments\": {\"path\": \"a\"}}}}\n</tool_call>",
            "<tool_call>\n{\"name\": \"fs__read\", \"arguments\": {\"path\": \"a",
            "<tool_call>{name: fs__read, arguments: {recursive: True}}</tool_call>",
            "[TOOL_REQUEST]\n{\"name\": \"fs__read\", \"arguments\": {\"path\": \"a\"\n[END_TOOL_REQUEST]",
            "<tool>fs__read</tool><args>{\"path\": \"a\"}</args>",
            "<functioncall> {\"name\": \"fs__read\", \"arguments\": '{\"path\": \"a\"}'} </functioncall>",
            "&lt;tool_call&gt;{\"name\": \"fs__read\"}&lt;/tool_call&gt;",
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
            "{\"fs__read\": {}, \"fs__write\": {}}",
            "<b>fs__read</b>",
            "Models wrap a call of fs__read in <tool_call> tags: fs__read in them is the name.",
            "To read it, use `fs__read(path=\"a\")`, which returns the text.",
            "",
        ] {
            assert_eq!(written_call(text, &tools, Some(wire)), None, "{text}");
        }
    }
}
