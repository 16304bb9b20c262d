//! Deserialization of optional fields that distinguishes `null` from absence.

use serde::{Deserialize, Deserializer};

/// Deserializes a present field as `Some`, even if it is `null`. Serde's own `Option` reads `null` as `None`. Use it with
/// `#[serde(default, deserialize_with = "…")]`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
