//! [`Example`]: an example call in a tool's definition.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// An example call in a tool's definition. Registration fails if its arguments do not match the tool's schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The arguments of the call.
    pub arguments: Value,
    /// The result of the call, if stated. `null` is a result; an absent field is `None`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::example::present"
    )]
    pub result: Option<Value>,
}

impl Example {
    /// Creates an example without a result.
    pub fn new(arguments: Value) -> Self {
        Self {
            arguments,
            result: None,
        }
    }

    /// Sets the result.
    #[must_use]
    pub fn with_result(mut self, result: Value) -> Self {
        self.result = Some(result);
        self
    }
}

/// Deserializes a present field as `Some`, even if it is `null`. Serde's own `Option` reads `null` as `None`. Use it with
/// `#[serde(default, deserialize_with = "…")]`.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
