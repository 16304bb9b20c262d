//! [`Limits`]: what one tool may take, as its definition states it.

use serde::{Deserialize, Serialize};

/// The bounds that a tool's definition sets on its calls. What is `None` falls back to the catalog's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How long one call may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How much text one result may carry, in bytes of UTF-8; what is over it is cut out of the middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// How often a call that failed in passing may be repeated, twice where nothing is said. Only reads and idempotent calls are at
    /// all; every other call is executed at most once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// How many calls may start in a time. One too many waits, if its deadline is after its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How many calls may run at once. One too many waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u32>,
}

impl Limits {
    /// The text that a result may carry where its tool does not say, in bytes: 64 KiB, about 16,000 tokens of English.
    pub const DEFAULT_MAX_OUTPUT_BYTES: u64 = 64 * 1024;

    /// How often a call that failed in passing is repeated where its tool does not say and its effects allow it.
    pub const DEFAULT_MAX_RETRIES: u32 = 2;

    /// The greatest size of the pictures, recordings and embedded files of a result together, in bytes of base64: 8 MiB. Such
    /// content cannot be cut, so pieces over the limit are left out whole.
    pub const MAX_BINARY_BYTES: usize = 8 * 1024 * 1024;

    /// The greatest number of pieces of content of a result.
    pub const MAX_PIECES: usize = 64;

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A rate, kept as a bucket of `calls` tokens that fills in `per_ms` milliseconds: after a rest, `calls` may start at once, and from
/// then on one every `per_ms / calls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The number of calls.
    pub calls: u32,
    /// The time they are counted over, in milliseconds.
    pub per_ms: u64,
}
