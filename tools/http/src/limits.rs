//! [`HttpLimits`]: the limits of requests.

use std::time::Duration;

/// The limits of requests and their responses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The maximum size of a body after decompression, in bytes. A request can lower it.
    pub max_body_bytes: usize,
    /// The maximum size of a response's headers, in bytes.
    pub max_header_bytes: usize,
    /// The maximum number of redirects that a request follows.
    pub max_redirects: usize,
    /// The time until the headers of a response, redirects included.
    pub first_byte: Duration,
    /// The time until the end of a response, redirects included.
    pub total: Duration,
    /// The maximum number of concurrent requests.
    pub max_connections: usize,
    /// The maximum number of concurrent requests to one host.
    pub max_connections_per_host: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 10 * 1024 * 1024,
            max_header_bytes: 64 * 1024,
            max_redirects: 10,
            first_byte: Duration::from_secs(20),
            total: Duration::from_secs(60),
            max_connections: 32,
            max_connections_per_host: 6,
        }
    }
}
