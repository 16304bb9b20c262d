//! [`Answer`]: the answer to one request of a chain of redirects.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

/// The answer to one request of a chain of redirects, without secrets.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// True if the compressed data of the body was damaged or ended early.
    pub(crate) is_cut: bool,
}

/// Returns the size of headers in HTTP/1.1, in bytes.
pub(crate) fn header_bytes(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len())
        .sum()
}
