//! [`Example`]: a call that shows how a tool is used.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A worked example in a tool's definition. A catalog refuses a tool whose example arguments its own schema rejects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The arguments of the call.
    pub arguments: Value,
    /// What the call gives, where the author says so. `null` is a result; an absent field is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::present::present")]
    pub result: Option<Value>,
}

impl Example {
    /// An example without a result.
    pub fn new(arguments: Value) -> Self {
        Self { arguments, result: None }
    }

    /// States what the call gives.
    #[must_use]
    pub fn with_result(mut self, result: Value) -> Self {
        self.result = Some(result);
        self
    }
}
