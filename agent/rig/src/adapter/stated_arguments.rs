//! [`StatedArguments`]: the arguments that the Responses API states at the end of a call, which rig does not read, and calls at one place.
//!
//! A service may send them there alone, or lose a fragment before. The call would run with fewer arguments. Some gateways give each call
//! the first place, and rig would give one call the arguments of the other. Their ids tell them apart.

use std::collections::HashMap;

use serde_json::{Value, json};

const DELTA: &str = "response.function_call_arguments.delta";
const DONE: &str = "response.function_call_arguments.done";

const ADDED: &str = "response.output_item.added";

/// The first place of calls whose own one is taken.
const FREE_PLACES: u64 = 1 << 20;

#[derive(Default)]
pub(super) struct StatedArguments {
    /// The arguments of the calls as far as they were sent, by the place of the call and by its id.
    sent: HashMap<String, String>,
    /// The ids by place.
    taken: HashMap<u64, Value>,
    /// The places of calls whose own one is taken, by id.
    moved: HashMap<String, u64>,
}

impl StatedArguments {
    /// Returns the event in place of this one: at a place of its own, or a fragment with the arguments that are missing. Returns `None` if
    /// it stays.
    pub(super) fn corrected(&mut self, data: &str) -> Option<String> {
        let is_needed =
            data.contains("\"arguments\"") || data.contains(DELTA) || data.contains(ADDED);
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
        let keys: Vec<_> = [event.get("output_index"), Some(id)]
            .into_iter()
            .flatten()
            .filter(|key| !key.is_null())
            .map(Value::to_string)
            .collect();
        match kind {
            ADDED => {
                let arguments = event["item"]["arguments"].as_str().unwrap_or_default();
                for key in keys {
                    self.sent.insert(key, arguments.to_owned());
                }
                None
            }
            DELTA => {
                let fragment = event["delta"].as_str().unwrap_or_default();
                for key in keys {
                    self.sent.entry(key).or_default().push_str(fragment);
                }
                None
            }
            DONE => {
                let sent = keys.iter().find_map(|key| self.sent.get(key));
                let sent = sent.cloned().unwrap_or_default();
                let rest = event["arguments"].as_str()?.strip_prefix(&sent)?.to_owned();
                if rest.is_empty() {
                    return None;
                }
                event["type"] = DELTA.into();
                event["delta"] = json!(rest);
                Some(event.to_string())
            }
            _ => None,
        }
    }
}
