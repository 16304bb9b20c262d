//! [`Origin`]: the model that made a thought, and the data of a service that go back to that model alone.

use serde::Serialize;
use serde_json::{Map, Value};
use tools::protocol::{Message, Part};

/// The keys of opaque reasoning data: the service's own item, or the members beside the next part, and the model that made them.
pub(crate) const ITEM: &str = "item";
pub(crate) const BESIDE: &str = "beside";
pub(crate) const ORIGIN: &str = "origin";

/// The key of an item in the data of earlier versions, with the members of its wrapper.
const BLOCK: &str = "block";

/// A model of a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Origin {
    pub(crate) api: &'static str,
    pub(crate) provider: &'static str,
    pub(crate) model: String,
}

impl Origin {
    /// Returns true if this model made the turn of these messages.
    pub(crate) fn has_made(&self, messages: &[Message]) -> bool {
        let parts = messages.iter().flat_map(|message| &message.parts);
        let origin = parts.into_iter().find_map(|part| match part {
            Part::Reasoning { opaque, .. } => opaque.get(ORIGIN),
            _ => None,
        });
        origin.is_some_and(|origin| {
            origin["api"] == self.api
                && origin["provider"] == self.provider
                && origin["model"] == *self.model
        })
    }
}

/// Returns the members beside the next part.
pub(crate) fn beside(opaque: &Value) -> Option<&Map<String, Value>> {
    opaque.get(BESIDE)?.as_object()
}

/// Returns the item of a service, also from the data of earlier versions.
pub(crate) fn item(opaque: &Value) -> Option<&Value> {
    let block = match opaque.get(ITEM) {
        Some(item) => return Some(item),
        None => opaque.get(BLOCK)?,
    };
    match block.get(ITEM) {
        // Earlier versions marked the items that must not go back.
        Some(item) => Some(item).filter(|_| block["replay"] == true),
        None => block.pointer("/native/item"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_items_of_earlier_versions_are_read() {
        let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "s"});
        let native = json!({"item": thinking, "fingerprint": "0123456789abcdef"});
        for (opaque, read) in [
            (json!({"item": thinking}), Some(&thinking)),
            (
                json!({"block": {"type": "reasoning", "text": "Hm.", "native": native}}),
                Some(&thinking),
            ),
            (
                json!({"block": {"type": "opaque", "item": thinking, "replay": true}}),
                Some(&thinking),
            ),
            (
                json!({"block": {"type": "opaque", "item": thinking, "replay": false}}),
                None,
            ),
            (json!({"block": {"type": "reasoning", "text": "Hm."}}), None),
            (json!({"beside": {}}), None),
        ] {
            assert_eq!(item(&opaque), read, "{opaque}");
        }
    }
}
