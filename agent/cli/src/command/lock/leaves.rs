//! Differences of JSON values by their fields.

use std::collections::BTreeSet;

use serde_json::Value;

use super::difference::DefinitionChange;

/// Reports each field that differs, with its place, a JSON pointer that begins with `place`. Lists are compared as a whole.
pub(super) fn leaves(
    place: &str,
    old: &Value,
    new: &Value,
    add: &mut impl FnMut(&str, DefinitionChange),
) {
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            for key in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
                let place = format!("{place}/{}", escaped(key));
                match (before.get(key), after.get(key)) {
                    (Some(old), Some(new)) => leaves(&place, old, new, add),
                    (old, new) => add(&place, DefinitionChange::changed(old, new)),
                }
            }
        }
        (old, new) if old != new => add(place, DefinitionChange::changed(Some(old), Some(new))),
        _ => {}
    }
}

/// Escapes a segment of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
