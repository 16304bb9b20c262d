//! Reading an optional JSON value where `null` is a value of its own.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Keeps `null` apart from an absent field, which serde's own `Option` would fold together. For
/// `#[serde(default, deserialize_with = "…")]`.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
