//! [`Body`]: the body of an answer, as it arrives.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;
use url::Url;

use crate::HttpError;
use crate::failure::failure;
use crate::mask::{Mask, MaskedStream};
use crate::slots::Slot;

/// The body of an answer, decompressed and without secrets. A drop closes the connection.
#[derive(Debug)]
pub(crate) struct Body {
    url: Url,
    response: reqwest::Response,
    masked: Option<MaskedStream>,
    /// The limit of the time between two chunks.
    idle: Duration,
    /// The bytes so far, after decompression.
    received: usize,
    /// The place among the concurrent requests.
    slot: Option<Slot>,
}

impl Body {
    pub(crate) fn new(
        url: Url,
        response: reqwest::Response,
        mask: Option<&Arc<Mask>>,
        idle: Duration,
        slot: Slot,
    ) -> Self {
        let masked = mask.cloned().map(MaskedStream::new);
        Self { url, response, masked, idle, received: 0, slot: Some(slot) }
    }

    /// Stops counting as a concurrent request.
    pub(crate) fn leave_slot(&mut self) {
        self.slot = None;
    }

    /// Returns the next bytes. Returns `None` at the end. May be dropped and called again.
    ///
    /// # Errors
    /// Returns [`HttpError::Time`] if no byte arrives for too long, and others if the connection breaks.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let arrived = timeout(self.idle, self.response.chunk())
                .await
                .map_err(|_| HttpError::Time { url: self.url.to_string(), limit: self.idle })?;
            let mask = self.masked.as_ref().map(MaskedStream::mask);
            let arrived = arrived.map_err(|error| failure(&self.url, &error, mask))?;
            self.received += arrived.as_ref().map_or(0, Bytes::len);
            let shown = match (&mut self.masked, arrived) {
                (None, arrived) => return Ok(arrived),
                (Some(masked), Some(bytes)) => masked.push(bytes),
                (Some(masked), None) => {
                    let rest = masked.finish();
                    return Ok((!rest.is_empty()).then_some(rest));
                }
            };
            if !shown.is_empty() {
                return Ok(Some(shown));
            }
        }
    }

    /// Reads the rest. The connection counts as used until then.
    ///
    /// # Errors
    /// Returns [`HttpError::TooLarge`] if the body is longer than `limit`, and the errors of [`chunk`](Self::chunk).
    pub(crate) async fn read(mut self, limit: usize) -> Result<Bytes, HttpError> {
        // The length is that before decompression, which reqwest hides if there is any.
        if self.response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(self.too_large(limit));
        }
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            if self.received > limit {
                return Err(self.too_large(limit));
            }
            body.extend_from_slice(&bytes);
        }
        // The cache counts the length.
        body.shrink_to_fit();
        Ok(Bytes::from(body))
    }

    fn too_large(&self, limit: usize) -> HttpError {
        HttpError::TooLarge { url: self.url.to_string(), limit }
    }
}
