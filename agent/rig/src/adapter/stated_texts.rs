//! [`StatedTexts`]: the texts and arguments that the Responses API states at their end, which rig does not read, and calls at one place.
//!
//! A service may send them there alone, or lose a fragment before. The answer would be empty, or a call would run with fewer arguments.
//! Some gateways give each call the first place, and rig would give one call the arguments of the other. Their ids tell them apart.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The events of texts that arrive in fragments, without the ends of their names, and the member with the whole text.
const WHOLE: [(&str, &str); 3] = [
    ("response.function_call_arguments", "arguments"),
    ("response.output_text", "text"),
    ("response.refusal", "refusal"),
];

const ADDED: &str = "response.output_item.added";

/// The first place of calls whose own one is taken.
const FREE_PLACES: u64 = 1 << 20;

#[derive(Default)]
pub(super) struct StatedTexts {
    /// The texts as far as they were sent, by their place and by their id.
    sent: HashMap<String, String>,
    /// The ids by place.
    taken: HashMap<u64, Value>,
    /// The places of calls whose own one is taken, by id.
    moved: HashMap<String, u64>,
}

impl StatedTexts {
    /// Returns the event in place of this one: at a place of its own, or a fragment with the arguments that are missing. Returns `None` if
    /// it stays.
    pub(super) fn corrected(&mut self, data: &str) -> Option<String> {
        let is_needed = [".delta\"", ".done\"", ADDED]
            .iter()
            .any(|word| data.contains(word));
        if !is_needed && self.moved.is_empty() {
            return None;
        }
        let mut event: Value = serde_json::from_str(data).ok()?;
        let kind = event["type"].as_str()?.to_owned();
        let item = [event.get("item_id"), event.pointer("/item/id")];
        let id = item
            .into_iter()
            .flatten()
            .find(|id| !id.is_null())
            .cloned()
            .unwrap_or_default();
        if kind == ADDED
            && let Some(place) = event["output_index"].as_u64()
            && *self.taken.entry(place).or_insert_with(|| id.clone()) != id
        {
            let free = FREE_PLACES + self.moved.len() as u64;
            self.moved.insert(id.to_string(), free);
        }
        let moved = self.moved.get(&id.to_string()).copied();
        if let Some(place) = moved {
            event["output_index"] = place.into();
        }
        self.add_missing(&kind, &id, &mut event)
            .or_else(|| moved.map(|_| event.to_string()))
    }

    fn add_missing(&mut self, kind: &str, id: &Value, event: &mut Value) -> Option<String> {
        let part = event
            .get("content_index")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let keys = [event.get("output_index"), Some(id)].into_iter().flatten();
        let keys = keys
            .filter(|key| !key.is_null())
            .map(|key| format!("{key} {part}"));
        let keys: Vec<_> = keys.collect();
        if kind == ADDED {
            let arguments = event["item"]["arguments"].as_str().unwrap_or_default();
            for key in keys {
                self.sent.insert(key, arguments.to_owned());
            }
            return None;
        }
        let (stem, end) = kind.rsplit_once('.')?;
        let (_, member) = WHOLE.iter().find(|(event, _)| *event == stem)?;
        if end == "delta" {
            let fragment = event["delta"].as_str().unwrap_or_default();
            for key in keys {
                self.sent.entry(key).or_default().push_str(fragment);
            }
            return None;
        }
        let sent = keys.iter().find_map(|key| self.sent.get(key));
        let sent = sent.cloned().unwrap_or_default();
        let rest = event[*member].as_str()?.strip_prefix(&sent)?.to_owned();
        if rest.is_empty() {
            return None;
        }
        event["type"] = format!("{stem}.delta").into();
        event["delta"] = json!(rest);
        for key in keys {
            self.sent.entry(key).or_default().push_str(&rest);
        }
        Some(event.to_string())
    }
}
