//! [`HttpLimits`]: the limits of requests.

use std::time::Duration;

use crate::error::HttpError;

/// The limits of requests and their responses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The maximum size of a body after decompression, in bytes. A request can lower it. The reader of a
    /// [stream](crate::HttpClient::stream) limits it instead.
    pub max_body_bytes: usize,
    /// The maximum size of a response's headers, in bytes.
    pub max_header_bytes: usize,
    /// The maximum number of a response's headers.
    pub max_headers: usize,
    /// The maximum number of redirects that a request follows.
    pub max_redirects: usize,
    /// The time until the headers of a response, for each redirect anew.
    pub first_byte: Duration,
    /// The time between two parts of a body.
    pub idle: Duration,
    /// The time until the end of a response, redirects and waiting for a connection included. [`Duration::MAX`] is no limit.
    pub total: Duration,
    /// The maximum number of concurrent requests. Others wait. A [stream](crate::HttpClient::stream) counts until its headers.
    pub max_connections: usize,
    /// The maximum number of concurrent requests to one host and port. Others wait. A [stream](crate::HttpClient::stream) counts until
    /// its headers.
    pub max_connections_per_host: usize,
    /// The maximum size of a session's cache, in bytes. 0 turns it off.
    pub max_cache_bytes: usize,
    /// The maximum number of responses in a session's cache.
    pub max_cache_entries: usize,
}

impl HttpLimits {
    /// Checks that requests are possible.
    pub(crate) fn check(&self) -> Result<(), HttpError> {
        if self.max_connections == 0 || self.max_connections_per_host == 0 || self.max_headers == 0
        {
            let reason = "max_connections, max_connections_per_host and max_headers are at least 1; raise them";
            return Err(HttpError::option("limits", reason));
        }
        Ok(())
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            max_body_bytes: 10 * 1024 * 1024,
            max_header_bytes: 64 * 1024,
            max_headers: 100,
            max_redirects: 10,
            first_byte: Duration::from_secs(20),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(60),
            max_connections: 32,
            max_connections_per_host: 6,
            max_cache_bytes: 32 * 1024 * 1024,
            max_cache_entries: 256,
        }
    }
}
