//! [`same_json`]: values of the protocol library as own ones, and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Converts a value to a type with the same JSON. Returns `None` if it has none.
pub(crate) fn same_json<T: DeserializeOwned>(value: &impl Serialize) -> Option<T> {
    serde_json::from_value(serde_json::to_value(value).ok()?).ok()
}
