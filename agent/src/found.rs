//! The tools that a model has found, read from its conversation.

use std::collections::{BTreeSet, HashSet};

use serde_json::json;
use tools::protocol::{Message, Part, Role};
use tools::{Json, ToolResult};

use crate::inner_call;

/// The name of the tool that finds other tools.
pub(crate) const SEARCHER: &str = "tools.search";

/// The place of the names in the structured result of [`SEARCHER`].
pub(crate) const FOUND: &str = "found";

/// Returns the names of the tools that the model found in its last `turns` turns before the present one: those that a search returned and
/// those that it called, since a call of a tool that is not offered is answered with its definition.
///
/// The conversation has them, so they survive as long as it does.
pub(crate) fn list_found(messages: &[Message], turns: u32) -> BTreeSet<String> {
    let present = messages
        .iter()
        .rposition(|message| message.role == Role::Assistant)
        .unwrap_or_default();
    // The calls of the present turn were written before the results of its searches.
    list_known(&messages[..present], turns)
}

/// Returns the names that [`list_found`] returns in the turn after these messages.
pub(crate) fn list_known(messages: &[Message], turns: u32) -> BTreeSet<String> {
    let searches = searches(messages);
    let mut left = turns;
    let mut names = BTreeSet::new();
    for message in messages.iter().rev() {
        if message.role == Role::Assistant {
            if left == 0 {
                break;
            }
            left -= 1;
            let called = message.calls().map(inner_call::name);
            names.extend(called.map(str::to_owned));
        } else if left > 0 {
            let parts = message.parts.iter();
            let found = parts.flat_map(|part| list_searched(part, &searches));
            names.extend(found.map(str::to_owned));
        }
    }
    names
}

/// Returns the ids of the searches among the calls.
fn searches(messages: &[Message]) -> HashSet<&str> {
    let calls = messages.iter().flat_map(Message::calls);
    calls
        .filter(|call| inner_call::name(call) == SEARCHER)
        .map(|call| call.id.as_str())
        .collect()
}

/// Returns the names that the result of one of these searches has.
fn list_searched<'m>(part: &'m Part, searches: &HashSet<&str>) -> impl Iterator<Item = &'m str> {
    let names = match part {
        Part::ToolResult { id, name, result } if searches.contains(id.as_str()) => {
            named_in(name, result)
        }
        _ => None,
    };
    names.into_iter().flatten()
}

/// Returns the names that the result of a call of this tool has. Returns `None` if it is not the result of a search: calls of other
/// programs may share an id, and other tools of theirs the name of ours.
fn named_in<'r>(called: &str, result: &'r ToolResult) -> Option<impl Iterator<Item = &'r str>> {
    let found = result.structured.as_ref();
    let names = found.and_then(|found| found.value().get(FOUND)?.as_array());
    let is_search =
        [SEARCHER, inner_call::CALLER].contains(&called) && (names.is_some() || result.is_error);
    is_search.then(|| names.into_iter().flatten().filter_map(|name| name.as_str()))
}

/// Returns the structure of a search's result that a compaction left out, which has no names. Returns `None` for other results.
pub(crate) fn left_out(called: &str, result: &ToolResult) -> Option<Json> {
    named_in(called, result)
        .filter(|_| !result.is_error)
        .map(|_| json!({FOUND: []}).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::ToolCall;

    use super::*;

    fn calls(name: &str) -> Message {
        let call = ToolCall::new("a", name, json!({}));
        Message {
            role: Role::Assistant,
            parts: vec![Part::ToolCall(call)],
        }
    }

    fn results(names: &[&str]) -> Message {
        let result = ToolResult {
            structured: Some(json!({FOUND: names}).into()),
            ..ToolResult::default()
        };
        let part = Part::ToolResult {
            id: "a".to_owned(),
            name: SEARCHER.to_owned(),
            result,
        };
        Message {
            role: Role::Tool,
            parts: vec![part],
        }
    }

    #[test]
    fn a_found_tool_is_forgotten_after_its_turns_unless_it_is_called() {
        let mut messages = vec![
            Message::text(Role::User, "go"),
            calls(SEARCHER),
            results(&["x", "y"]),
        ];
        assert!(
            list_found(&messages, 3).is_empty(),
            "the present turn has not seen the result"
        );
        for turn in 1..=5 {
            messages.push(calls(if turn == 2 { "y" } else { "z" }));
            let names = list_found(&messages, 3);
            assert_eq!(
                (names.contains("x"), names.contains("y")),
                (turn <= 3, true),
                "turn {turn}"
            );
        }
        messages.push(calls("z"));
        assert!(!list_found(&messages, 3).contains("y"));
        assert!(list_found(&messages, 0).is_empty());
    }

    #[test]
    fn a_search_through_another_call_finds_too() {
        let arguments = json!({"name": SEARCHER, "arguments": {"query": "x"}});
        let search = Part::ToolCall(ToolCall::new("a", inner_call::CALLER, arguments));
        let mut messages = vec![
            Message {
                role: Role::Assistant,
                parts: vec![search],
            },
            results(&["x"]),
        ];
        let Part::ToolResult { name, .. } = &mut messages[1].parts[0] else {
            panic!()
        };
        *name = inner_call::CALLER.to_owned();
        messages.push(calls("z"));
        assert!(list_found(&messages, 3).contains("x"));
    }

    #[test]
    fn the_result_of_another_tool_finds_nothing() {
        assert!(!list_found(&[calls("y"), results(&["x"]), calls("z")], 3).contains("x"));
        // Conversations of other programs may use an id twice.
        let mut other = results(&["evil"]);
        let Part::ToolResult { name, .. } = &mut other.parts[0] else {
            panic!()
        };
        *name = "web.fetch".to_owned();
        let messages = [
            calls(SEARCHER),
            results(&["x"]),
            calls("web.fetch"),
            other,
            calls("z"),
        ];
        assert_eq!(
            list_found(&messages, 9),
            ["tools.search", "web.fetch", "x"].map(str::to_owned).into()
        );
    }
}
