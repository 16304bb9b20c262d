//! Reading an optional JSON value where `null` is a value of its own.

use serde::{Deserialize, Deserializer};

/// Keeps `null` apart from an absent field, which serde's own `Option` would fold together. For
/// `#[serde(default, deserialize_with = "…")]`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
