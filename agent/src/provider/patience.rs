//! [`Patience`]: how long a service is waited for, and how often it is asked again.

use std::time::Duration;

/// How long a service may take, and how often it is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// For a connection to stand.
    pub connect: Duration,
    /// From the request to the first byte of the answer. A model may think for minutes before it.
    pub first_byte: Duration,
    /// From one byte of a streamed answer to the next.
    pub idle: Duration,
    /// How often a request is repeated after an error that may pass: statuses 408, 425, 429 and 5xx, and broken connections.
    pub retries: usize,
    /// Before the first repetition; each further one waits twice as long, with some chance in it.
    pub first_delay: Duration,
    /// The longest wait before a repetition. A service that asks for a longer one is not asked again.
    pub longest_delay: Duration,
}

impl Default for Patience {
    /// 10 seconds to connect, 5 minutes to the first byte, 90 seconds in between, 4 repetitions after 0.5 to 60 seconds.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(90),
            retries: 4,
            first_delay: Duration::from_millis(500),
            longest_delay: Duration::from_secs(60),
        }
    }
}
