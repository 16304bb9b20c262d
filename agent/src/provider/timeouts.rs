//! [`Timeouts`] and [`RetryPolicy`]: limits on waiting for a service.

use std::time::Duration;

/// Time limits for one request to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The limit for establishing a connection.
    pub connect: Duration,
    /// The limit from the request to the first byte of the response. A model may think for minutes before it.
    pub first_byte: Duration,
    /// The limit between two bytes of a streamed response.
    pub idle: Duration,
}

/// A policy for repeating requests after transient errors: statuses 408, 409, 425, 429 and 5xx, broken connections, and timeouts before
/// the first byte. A service may decide otherwise (`x-should-retry`). A used-up [quota](crate::FailureKind::Quota) is never retried.
///
/// Each delay is twice as long as the one before it, with jitter. A `retry-after` of the service lengthens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of retries after the first attempt.
    pub max_retries: usize,
    /// The delay before the first retry.
    pub first_delay: Duration,
    /// The longest delay before a retry. A request is not repeated if the service asks for a longer one.
    pub longest_delay: Duration,
}

impl Default for Timeouts {
    /// Returns 10 seconds to connect, 5 minutes to the first byte and 90 seconds between bytes.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(90),
        }
    }
}

impl Default for RetryPolicy {
    /// Returns 4 retries, after delays from 0.5 to 60 seconds.
    fn default() -> Self {
        Self {
            max_retries: 4,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(60),
        }
    }
}
