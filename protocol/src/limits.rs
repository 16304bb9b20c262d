//! [`Limits`]: the limits that a definition sets on the calls of its tool.

use serde::{Deserialize, Serialize};

/// The limits of a tool's calls. `None` means the default of the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The timeout of one call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The maximum text of one result, in bytes of UTF-8. Longer text loses its middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// The maximum number of retries after transient failures. Only pure, reading and idempotent calls are retried; every other
    /// call is executed at most once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// The maximum rate of calls. A call over the rate waits if its turn comes before its deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The maximum number of concurrent calls. Further calls wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u32>,
    /// True if a call delegates its work: to a sub-agent, whose calls have targets and limits of their own, or to a model.
    ///
    /// - Its targets name the delegate, so they are authorised and approved, but the call does not wait for calls with the same ones.
    /// - A host's time limit of calls does not hold for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub delegates: bool,
}

impl Limits {
    /// The default of [`max_output_bytes`](Self::max_output_bytes): 64 KiB, about 16,000 tokens of English.
    pub const DEFAULT_MAX_OUTPUT_BYTES: u64 = 64 * 1024;

    /// The default of [`max_retries`](Self::max_retries).
    pub const DEFAULT_MAX_RETRIES: u32 = 2;

    /// The maximum total size of images, audio and embedded resources in one result, in bytes of base64: 8 MiB. A block over
    /// the limit is dropped whole, because it cannot be cut.
    pub const MAX_BINARY_BYTES: usize = 8 * 1024 * 1024;

    /// The maximum number of content blocks in one result.
    pub const MAX_PIECES: usize = 64;

    /// Returns true if no limit is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The rate of a token bucket that holds `calls` tokens and refills in `per_ms` milliseconds. From a full bucket, `calls` calls
/// may start at once; afterwards, one call may start every `per_ms / calls` milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The number of calls.
    pub calls: u32,
    /// The refill time, in milliseconds.
    pub per_ms: u64,
}
