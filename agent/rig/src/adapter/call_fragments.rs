//! [`CallFragments`]: gives each fragment of a streamed call to the call that it belongs to.
//!
//! Chat completions name the call of a fragment by an index and begin it with an id and a name. Gateways number the fragments of a call
//! differently, repeat its index for the next call, or give each fragment an id of its own. rig would open a call without a name for such
//! a fragment, drop it, and run the first call without these arguments.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Appended to the arguments of a call that may lack a part of them, so that they are no JSON and the call is refused.
const UNCERTAIN: &str = " (a part of the arguments belongs to no known call)";

/// The calls of a stream of chat completions.
#[derive(Default)]
pub(super) struct CallFragments {
    calls: Vec<OpenCall>,
}

struct OpenCall {
    /// The index that the service gives.
    index: Option<u64>,
    /// The index that rig gets, unique among the calls.
    place: u64,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
}

impl CallFragments {
    /// Returns the chunk with each fragment at the index of its call.
    pub(super) fn placed<'a>(&mut self, chunk: &'a str) -> Cow<'a, str> {
        if !chunk.contains("\"tool_calls\"") || !chunk.contains("\"delta\"") {
            return Cow::Borrowed(chunk);
        }
        let Ok(mut parsed) = serde_json::from_str::<Value>(chunk) else {
            return Cow::Borrowed(chunk);
        };
        let Some(choices) = parsed.get_mut("choices").and_then(Value::as_array_mut) else {
            return Cow::Borrowed(chunk);
        };
        let mut is_changed = false;
        let first = choices
            .iter_mut()
            .find(|choice| choice["index"].as_u64().is_none_or(|index| index == 0));
        let Some(Value::Array(fragments)) =
            first.and_then(|choice| choice.pointer_mut("/delta/tool_calls"))
        else {
            return Cow::Borrowed(chunk);
        };
        let mut uncertain = Vec::new();
        for fragment in fragments.iter_mut() {
            if let Value::Object(fields) = fragment {
                is_changed |= self.place(fields, &mut uncertain);
            }
        }
        is_changed |= !uncertain.is_empty();
        fragments.append(&mut uncertain);
        if is_changed {
            Cow::Owned(parsed.to_string())
        } else {
            Cow::Borrowed(chunk)
        }
    }

    /// Sets the index of a fragment. Adds fragments for other calls that may lack its arguments. Returns true if the fragment changes.
    fn place(&mut self, fields: &mut Map<String, Value>, uncertain: &mut Vec<Value>) -> bool {
        let index = fields.get("index");
        let index = index.and_then(|index| index.as_u64().or_else(|| index.as_str()?.parse().ok()));
        let id = match fields.get("id") {
            Some(Value::String(id)) if !id.is_empty() && id != "null" => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        let text = |pointer: &[&str]| {
            let found = pointer
                .iter()
                .try_fold(fields.get("function")?, |value, key| value.get(key))?;
            Some(
                found
                    .as_str()
                    .map_or_else(|| found.to_string(), str::to_owned),
            )
        };
        let name = text(&["name"]).filter(|name| !name.is_empty() && name != "null");
        let arguments = text(&["arguments"])
            .filter(|arguments| arguments != "null")
            .unwrap_or_default();
        let (at, is_certain) = match self.found(index, id.as_deref(), name.as_deref()) {
            Some(found) => found,
            // Custom calls have their own place for the name and the input.
            None if name.is_some() || self.calls.is_empty() || !fields.contains_key("function") => {
                (self.open(index), true)
            }
            // The name may follow, but not after arguments.
            None if id.is_some() && arguments.is_empty() => (self.open(index), true),
            None => (self.calls.len() - 1, false),
        };
        if !is_certain {
            for (position, call) in self.calls.iter_mut().enumerate() {
                if position != at && call.arguments.trim().is_empty() {
                    call.arguments.push_str(UNCERTAIN);
                    uncertain.push(serde_json::json!({"index": call.place, "function": {"arguments": UNCERTAIN}}));
                }
            }
        }
        let call = &mut self.calls[at];
        let mut is_changed = fields.get("index") != Some(&call.place.into());
        fields.insert("index".to_owned(), call.place.into());
        // rig takes a second id for another call.
        if id.is_some() && call.id.is_some() && id != call.id {
            fields.remove("id");
            is_changed = true;
        }
        call.id = call.id.take().or(id);
        call.name = call.name.take().or(name);
        call.arguments.push_str(&arguments);
        is_changed
    }

    /// Returns the open call of a fragment, with true. Returns `None` if there is none yet.
    fn found(
        &self,
        index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
    ) -> Option<(usize, bool)> {
        let by_index = || {
            let at = self
                .calls
                .iter()
                .rposition(|call| index.is_some() && call.index == index)?;
            let call = &self.calls[at];
            let is_same = id.is_none() || id == call.id.as_deref();
            let goes_on = match (name, &call.name) {
                (Some(name), Some(known)) => {
                    is_same && name == known && (id.is_some() || !is_whole(&call.arguments))
                }
                (Some(_), None) => is_same || call.id.is_none(),
                (None, _) => true,
            };
            goes_on.then_some(at)
        };
        // Services give equal ids to several calls, each with a name and an index.
        let by_id = || {
            let is_start = name.is_some() && index.is_some();
            let id = id.filter(|_| !is_start)?;
            self.calls
                .iter()
                .rposition(|call| call.id.as_deref() == Some(id))
        };
        // Without an index and an id, a fragment goes on with the latest call.
        let by_order = || {
            let (None, None, Some(call)) = (index, id, self.calls.last()) else {
                return None;
            };
            let goes_on = name.is_none_or(|name| {
                call.name.as_deref() == Some(name)
                    && !call.arguments.is_empty()
                    && !is_whole(&call.arguments)
            });
            goes_on.then(|| self.calls.len() - 1)
        };
        by_index()
            .or_else(by_id)
            .or_else(by_order)
            .map(|at| (at, true))
    }

    fn open(&mut self, index: Option<u64>) -> usize {
        let is_free = |index: &u64| !self.calls.iter().any(|call| call.place == *index);
        let place = index.filter(is_free).unwrap_or_else(|| {
            self.calls
                .iter()
                .map(|call| call.place + 1)
                .max()
                .unwrap_or_default()
        });
        self.calls.push(OpenCall {
            index,
            place,
            id: None,
            name: None,
            arguments: String::new(),
        });
        self.calls.len() - 1
    }
}

/// Returns true if the arguments are complete.
fn is_whole(arguments: &str) -> bool {
    arguments.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the arguments by the index of their call, as rig adds them up.
    fn arguments(fragments: &[Value]) -> Vec<(u64, String)> {
        let mut calls = CallFragments::default();
        let mut sums: Vec<(u64, String)> = Vec::new();
        for fragment in fragments {
            let chunk =
                json!({"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]}).to_string();
            let placed: Value = serde_json::from_str(&calls.placed(&chunk)).unwrap();
            for fragment in placed["choices"][0]["delta"]["tool_calls"]
                .as_array()
                .unwrap()
            {
                let (index, text) = (
                    fragment["index"].as_u64().unwrap(),
                    fragment["function"]["arguments"].as_str(),
                );
                match sums.iter_mut().find(|(other, _)| *other == index) {
                    Some((_, sum)) => sum.push_str(text.unwrap_or_default()),
                    None => sums.push((index, text.unwrap_or_default().to_owned())),
                }
            }
        }
        sums
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
        let got = arguments(&[
            read,
            start(0, "b", "list", ""),
            more(1, r#"{"pa"#),
            more(1, r#"th":1}"#),
        ]);
        assert_eq!(
            got,
            [
                (0, r#"{"path":"x"}"#.to_owned()),
                (1, r#"{"path":1}"#.to_owned())
            ]
        );
        assert_eq!(
            arguments(&[start(0, "a", "list", ""), more(7, "{}")]),
            [(0, "{}".to_owned())]
        );
    }

    #[test]
    fn a_call_that_may_lack_arguments_is_refused() {
        let got = arguments(&[
            start(0, "a", "list", ""),
            start(0, "b", "list", ""),
            more(3, "{}"),
        ]);
        assert_eq!(got, [(0, UNCERTAIN.to_owned()), (1, "{}".to_owned())]);
        let whole = start(0, "a", "list", "{}");
        assert_eq!(arguments(&[whole, more(3, "{}")]), [(0, "{}{}".to_owned())]);
    }

    #[test]
    fn an_id_of_each_fragment_begins_no_call() {
        let more =
            |id: &str, text: &str| json!({"index": 0, "id": id, "function": {"arguments": text}});
        let named = |id: &str, text: &str| json!({"index": 0, "id": id, "function": {"name": "", "arguments": text}});
        let got = arguments(&[start(0, "a", "list", ""), more("b", "{"), named("c", "}")]);
        assert_eq!(got, [(0, "{}".to_owned())]);
    }

    #[test]
    fn a_name_that_each_fragment_repeats_begins_no_call() {
        let named =
            |text: &str| json!({"index": 0, "function": {"name": "list", "arguments": text}});
        assert_eq!(
            arguments(&[start(0, "a", "list", ""), named("{"), named("}")]),
            [(0, "{}".to_owned())]
        );
        assert_eq!(
            arguments(&[named("{}"), named("{}")]),
            [(0, "{}".to_owned()), (1, "{}".to_owned())]
        );
    }

    #[test]
    fn a_usual_stream_passes_unchanged() {
        let mut calls = CallFragments::default();
        for fragment in [
            start(0, "a", "read", ""),
            start(1, "b", "list", ""),
            more(0, "{}"),
            more(1, "{}"),
        ] {
            let chunk =
                json!({"choices": [{"index": 0, "delta": {"tool_calls": [fragment]}}]}).to_string();
            assert!(matches!(calls.placed(&chunk), Cow::Borrowed(_)), "{chunk}");
        }
    }
}
