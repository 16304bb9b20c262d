//! [`StatedArguments`]: the arguments that the Responses API states at the end of a call, which rig does not read.
//!
//! A service may send them there alone, or lose a fragment before. The call would run with fewer arguments.

use std::collections::HashMap;

use serde_json::{Value, json};

const DELTA: &str = "response.function_call_arguments.delta";
const DONE: &str = "response.function_call_arguments.done";

/// The arguments of a stream's calls as far as they were sent, by the place of the call and by its id.
#[derive(Default)]
pub(super) struct StatedArguments(HashMap<String, String>);

impl StatedArguments {
    /// Returns the event in place of this one: a fragment with the arguments that are missing. Returns `None` if nothing is missing.
    pub(super) fn missing(&mut self, data: &str) -> Option<String> {
        if !data.contains("\"arguments\"") && !data.contains(DELTA) {
            return None;
        }
        let mut event: Value = serde_json::from_str(data).ok()?;
        let keys = |event: &Value, id: &Value| {
            let named = [event.get("output_index"), Some(id)]
                .into_iter()
                .flatten()
                .filter(|key| !key.is_null());
            named.map(Value::to_string).collect::<Vec<_>>()
        };
        let (kind, id) = (event["type"].as_str()?.to_owned(), event["item_id"].clone());
        match kind.as_str() {
            "response.output_item.added" => {
                let arguments = event["item"]["arguments"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                for key in keys(&event, &event["item"]["id"]) {
                    self.0.insert(key, arguments.clone());
                }
                None
            }
            DELTA => {
                let fragment = event["delta"].as_str().unwrap_or_default();
                for key in keys(&event, &id) {
                    self.0.entry(key).or_default().push_str(fragment);
                }
                None
            }
            DONE => {
                let sent = keys(&event, &id)
                    .iter()
                    .find_map(|key| self.0.get(key))
                    .cloned()
                    .unwrap_or_default();
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
