//! [`Calls`]: gives each fragment of a streamed call to the call that it belongs to.
//!
//! Chat completions name the call of a fragment by an index and begin it with an id and a name. Gateways number the fragments of a call
//! differently, repeat its index for the next call, or give each fragment an id of its own. No call may run with fewer arguments than the
//! model wrote.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::arguments::{NAMES, find_arguments};
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, TurnBuilder};

/// Appended to the arguments of a call that may lack a part of them, so that they are no JSON and the call is refused.
const UNCERTAIN: &str = " (a part of the arguments belongs to no known call)";

/// The calls of a reply of chat completions.
#[derive(Default)]
pub(super) struct Calls(Vec<OpenCall>);

struct OpenCall {
    /// The position of the call in the turn.
    at: usize,
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
}

/// A fragment of a call, or a whole one.
struct Fragment<'a> {
    index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: Cow<'a, str>,
    has_function: bool,
}

impl Calls {
    /// Adds a fragment to its call.
    pub(super) fn read(&mut self, call: Raw<'_>, turn: &mut TurnBuilder<'_>) {
        let fields = call.fields();
        let Some(fragment) = Fragment::read(&fields) else {
            return;
        };
        let (position, is_certain) = self.position(&fragment, turn);
        if !is_certain {
            // The fragment may have been meant for each call that has no arguments yet. Without this, such a call would run as one without
            // arguments.
            let others = self.0.iter().enumerate();
            for (_, call) in others.filter(|(other, _)| *other != position) {
                let arguments = &mut turn.block(call.at).text;
                if arguments.trim().is_empty() {
                    arguments.push_str(UNCERTAIN);
                }
            }
        }
        let call = &mut self.0[position];
        call.id = call.id.take().or(fragment.id);
        call.name = call.name.take().or(fragment.name);
        let block = turn.block(call.at);
        block.kind = Kind::Call {
            id: call.id.clone().unwrap_or_default(),
            name: call.name.clone().unwrap_or_default(),
        };
        block.text.push_str(&fragment.arguments);
        add_beside(&mut block.item, &fields);
    }

    /// Returns the call of a fragment, with true, or one that it may belong to.
    fn position(&mut self, fragment: &Fragment<'_>, turn: &mut TurnBuilder<'_>) -> (usize, bool) {
        match self.find_open(fragment, turn) {
            Some(found) => (found, true),
            None if fragment.name.is_some() || self.0.is_empty() || !fragment.has_function => {
                (self.open(fragment, turn), true)
            }
            // The name may follow, but not after arguments. Behind a whole call, another one begins.
            None if fragment.id.is_some()
                && (fragment.arguments.is_empty()
                    || self
                        .0
                        .last()
                        .is_some_and(|call| is_whole(&turn.block(call.at).text))) =>
            {
                (self.open(fragment, turn), true)
            }
            None => (self.0.len() - 1, false),
        }
    }

    /// Returns the open call of a fragment. Returns `None` if there is none yet.
    fn find_open(&self, fragment: &Fragment<'_>, turn: &mut TurnBuilder<'_>) -> Option<usize> {
        let Fragment {
            index, id, name, ..
        } = fragment;
        let mut calls = self.0.iter();
        if let Some(at) = calls.rposition(|call| index.is_some() && call.index == *index) {
            let call = &self.0[at];
            let is_same = id.is_none() || *id == call.id;
            // A repeated name after whole arguments begins the next call: gateways give parallel calls one index.
            let goes_on = match (name, &call.name) {
                (Some(name), Some(known)) => {
                    is_same
                        && name == known
                        && (id.is_some() || !is_whole(&turn.block(call.at).text))
                }
                (Some(_), None) => is_same || call.id.is_none(),
                (None, _) => true,
            };
            if goes_on {
                return Some(at);
            }
        }
        // Services give equal ids to several calls, each with a name and an index.
        let is_start = name.is_some() && index.is_some();
        if id.is_some() && !is_start {
            let same_id = self.0.iter().rposition(|call| call.id == *id);
            if same_id.is_some() {
                return same_id;
            }
        }
        // Without an index and an id, a fragment goes on with the latest call.
        let (None, None, Some(call)) = (index, id, self.0.last()) else {
            return None;
        };
        let sent = &turn.block(call.at).text;
        let goes_on = name.as_ref().is_none_or(|name| {
            call.name.as_ref() == Some(name) && !sent.is_empty() && !is_whole(sent)
        });
        goes_on.then(|| self.0.len() - 1)
    }

    fn open(&mut self, fragment: &Fragment<'_>, turn: &mut TurnBuilder<'_>) -> usize {
        let id = String::new();
        let name = String::new();
        self.0.push(OpenCall {
            at: turn.open(Kind::Call { id, name }),
            index: fragment.index,
            id: None,
            name: None,
        });
        self.0.len() - 1
    }
}

impl<'a> Fragment<'a> {
    /// Returns `None` for a call of a tool that is no function.
    fn read(fields: &Fields<'a>) -> Option<Self> {
        let is_bare = !fields.first(&["name", "arguments"]).is_null();
        let function = match fields.get("function") {
            function if function.is_object() => function.fields(),
            _ if is_bare => fields.clone(),
            // No custom tool is ever offered, so there is nothing to run and no one to tell.
            _ if fields.get("custom").is_object() => return None,
            _ => Fields::default(),
        };
        let id = match fields.get("id") {
            id if id.is_string() => id.text().map(Cow::into_owned),
            id => id.number().map(|id| id.to_string()),
        };
        let arguments = match find_arguments(&function, "arguments") {
            none if none.is_null() => find_arguments(fields, "arguments"),
            arguments => arguments,
        };
        // Services write absent ids and names as empty texts or as the word.
        let is_said = |text: &String| !text.is_empty() && text != "null";
        Some(Self {
            index: fields.get("index").number(),
            id: id.filter(is_said),
            name: write_value(function.get("name"))
                .map(Cow::into_owned)
                .filter(is_said),
            arguments: write_value(arguments)
                .filter(|arguments| arguments != "null")
                .unwrap_or_default(),
            has_function: is_bare || !fields.get("function").is_null(),
        })
    }
}

/// Returns the text of a string, or the JSON of any other value but `null`.
fn write_value(value: Raw<'_>) -> Option<Cow<'_, str>> {
    match value.text() {
        Some(text) => Some(text),
        None if value.is_null() => None,
        None => Some(Cow::Borrowed(value.json())),
    }
}

/// Adds the members of a call that the call itself does not have.
fn add_beside(item: &mut Map<String, Value>, fields: &Fields<'_>) {
    for (name, value) in fields.iter() {
        match name {
            "index" | "id" | "type" | "name" => {}
            name if NAMES.contains(&name) => {}
            "function" => {
                let mut rest = value.fields().without(&NAMES);
                rest.remove("name");
                if !rest.is_empty() {
                    add(item, name, rest.into());
                }
            }
            _ => add(item, name, value.value()),
        }
    }
}

/// Adds a member. Two objects are joined.
pub(super) fn add(item: &mut Map<String, Value>, name: &str, value: Value) {
    match (item.get_mut(name), value) {
        (Some(Value::Object(members)), Value::Object(more)) => {
            more.into_iter()
                .for_each(|(name, value)| add(members, &name, value));
        }
        (Some(_), Value::Null) => {}
        (_, value) => drop(item.insert(name.to_owned(), value)),
    }
}

/// Returns true if the arguments are complete.
fn is_whole(arguments: &str) -> bool {
    // A whole value of another kind, such as the `1` of `12`, may go on in the next fragment.
    arguments.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the arguments of the calls.
    fn arguments(fragments: &[Value]) -> Vec<String> {
        let (mut calls, mut turn) = (Calls::default(), TurnBuilder::default());
        for fragment in fragments {
            let fragment = fragment.to_string();
            calls.read(
                Raw::new(serde_json::from_str(&fragment).unwrap()),
                &mut turn,
            );
        }
        let blocks = turn.blocks().iter();
        blocks.map(|block| block.text.clone()).collect()
    }

    fn start(index: u64, id: &str, name: &str, arguments: &str) -> Value {
        json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    fn more(index: u64, arguments: &str) -> Value {
        json!({"index": index, "function": {"arguments": arguments}})
    }

    #[test]
    fn a_fragment_at_an_unknown_index_belongs_to_the_open_call() {
        let read = start(0, "a", "read", r#"{"path":"x"}"#);
        let list = start(0, "b", "list", "");
        let got = arguments(&[read, list, more(1, r#"{"pa"#), more(1, r#"th":1}"#)]);
        assert_eq!(got, [r#"{"path":"x"}"#, r#"{"path":1}"#]);
        let got = arguments(&[start(0, "a", "list", ""), more(7, "{}")]);
        assert_eq!(got, ["{}"]);
    }

    #[test]
    fn a_second_call_without_a_name_spoils_no_other_one() {
        for name in [json!(""), json!(null)] {
            let nameless = json!({"index": 1, "id": "b", "function": {"name": name, "arguments": "{\"n\":1}"}});
            let got = arguments(&[start(0, "a", "list", "{}"), nameless]);
            assert_eq!(got, ["{}", "{\"n\":1}"], "{name}");
        }
    }

    #[test]
    fn a_call_that_may_lack_arguments_is_refused() {
        let [one, two] = ["a", "b"].map(|id| start(0, id, "list", ""));
        assert_eq!(arguments(&[one, two, more(3, "{}")]), [UNCERTAIN, "{}"]);
        let whole = start(0, "a", "list", "{}");
        assert_eq!(arguments(&[whole, more(3, "{}")]), ["{}{}"]);
    }

    #[test]
    fn an_id_or_a_name_of_each_fragment_begins_no_call() {
        let more = |id: &str, text: &str| json!({"index": 0, "id": id, "function": {"name": "", "arguments": text}});
        let got = arguments(&[start(0, "a", "list", ""), more("b", "{"), more("c", "}")]);
        assert_eq!(got, ["{}"]);
        let named =
            |text: &str| json!({"index": 0, "function": {"name": "list", "arguments": text}});
        let got = arguments(&[start(0, "a", "list", ""), named("{"), named("}")]);
        assert_eq!(got, ["{}"]);
        assert_eq!(arguments(&[named("{}"), named("{}")]), ["{}", "{}"]);
    }
}
