//! [`Body`]: the body of an answer, as it arrives.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use http::{HeaderMap, StatusCode, header};
use http_body_util::BodyDataStream;
use tokio::io::AsyncBufReadExt as _;
use tokio::time::timeout;
use tokio_util::io::StreamReader;
use url::Url;

use crate::bounds::Bounds;
use crate::codings::{Coding, Source};
use crate::error::HttpError;
use crate::failure::failure;
use crate::mask::{Mask, MaskedStream};
use crate::response::media_type;
use crate::slots::Slot;

/// The body of an answer, decompressed and without secrets. A drop closes the connection.
pub(crate) struct Body {
    url: Url,
    bytes: Arriving,
    masked: Option<MaskedStream>,
    /// The limit of the time between two chunks.
    idle: Duration,
    /// The bytes so far, after decompression.
    received: usize,
    /// The length that the server names, unless the body is compressed.
    length: Option<u64>,
    /// True if the compressed data is damaged or ended early.
    is_cut: bool,
    /// The place among the concurrent requests.
    pub(crate) slot: Option<Slot>,
}

enum Arriving {
    Plain(reqwest::Response),
    Compressed(Source),
}

impl Body {
    /// Begins a body. Removes the headers of a compressed one that describe it as it was sent.
    ///
    /// # Errors
    /// Returns [`HttpError::Invalid`] if the codings are not known.
    pub(crate) fn new(
        url: Url,
        response: reqwest::Response,
        headers: &mut HeaderMap,
        mask: Option<&Arc<Mask>>,
        idle: Duration,
        slot: Slot,
    ) -> Result<Self, HttpError> {
        let masked = mask.cloned().map(MaskedStream::new);
        let codings =
            Coding::of(response.headers()).map_err(|reason| HttpError::invalid(&url, reason))?;
        let length = response.content_length().filter(|_| codings.is_empty());
        let hidden = Coding::guess(media_type(response.headers()).as_deref());
        if !codings.is_empty() {
            headers.remove(header::CONTENT_ENCODING);
            headers.remove(header::CONTENT_LENGTH);
        }
        let codings = [hidden, &codings].concat();
        let bytes = if codings.is_empty() {
            Arriving::Plain(response)
        } else {
            let sent = BodyDataStream::new(http::Response::from(response).into_body())
                .map_err(io::Error::other);
            Arriving::Compressed(Coding::decode(&codings, Box::pin(StreamReader::new(sent))))
        };
        Ok(Self {
            url,
            bytes,
            masked,
            idle,
            received: 0,
            length,
            is_cut: false,
            slot: Some(slot),
        })
    }

    /// Returns the next bytes. Returns `None` at the end. May be dropped and called again.
    ///
    /// # Errors
    /// Returns [`HttpError::Time`] if no byte arrives for too long, and others if the connection breaks.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let arrived = timeout(self.idle, self.bytes.next())
                .await
                .map_err(|_| HttpError::time(&self.url, self.idle))?;
            let mask = self.masked.as_ref().map(|masked| &masked.mask);
            let arrived = arrived.map_err(|error| match error {
                ArrivalError::Transfer(error) => failure(&self.url, &error, mask),
                ArrivalError::Compression(error) => {
                    self.is_cut = true;
                    let reason = format!("its compressed data is damaged: {error}");
                    HttpError::invalid(&self.url, reason)
                }
            })?;
            // Counted after decompression: a few bytes on the wire can be gigabytes.
            self.received += arrived.as_ref().map_or(0, Bytes::len);
            let shown = match (&mut self.masked, arrived) {
                (None, arrived) => return Ok(arrived),
                (Some(masked), Some(bytes)) => masked.push(bytes),
                (Some(_), None) => return Ok(self.held_back()),
            };
            if !shown.is_empty() {
                return Ok(Some(shown));
            }
        }
    }

    /// Reads the rest, and whether compressed data is damaged or ended early, whose beginning is kept. The connection counts as used until
    /// then.
    ///
    /// # Errors
    /// Returns [`HttpError::TooLarge`] if the body is longer than `limit`, and the errors of [`chunk`](Self::chunk).
    pub(crate) async fn read(mut self, limit: usize) -> Result<(Bytes, bool), HttpError> {
        if self.length.is_some_and(|length| length > limit as u64) {
            return Err(HttpError::too_large(&self.url, limit));
        }
        let mut body = Vec::new();
        loop {
            let bytes = match self.chunk().await {
                Err(_) if self.is_cut && self.received > 0 => {
                    body.extend(self.held_back().unwrap_or_default());
                    break;
                }
                arrived => arrived?,
            };
            let Some(bytes) = bytes else { break };
            if self.received > limit {
                return Err(HttpError::too_large(&self.url, limit));
            }
            body.extend_from_slice(&bytes);
        }
        // The cache counts the length.
        body.shrink_to_fit();
        Ok((Bytes::from(body), self.is_cut))
    }

    /// Returns the last bytes, which could have been the beginning of a secret.
    fn held_back(&mut self) -> Option<Bytes> {
        self.masked
            .as_mut()
            .map(MaskedStream::finish)
            .filter(|rest| !rest.is_empty())
    }
}

/// The failure of a body.
enum ArrivalError {
    Transfer(reqwest::Error),
    /// The compressed data is damaged or ends early.
    Compression(io::Error),
}

impl Arriving {
    /// Returns the next bytes, or `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, ArrivalError> {
        let source = match self {
            Self::Plain(response) => return response.chunk().await.map_err(ArrivalError::Transfer),
            Self::Compressed(source) => source,
        };
        // `fill_buf` keeps the bytes until `consume`, so that a dropped future loses none.
        let bytes =
            source
                .fill_buf()
                .await
                .map_err(|error| match error.downcast::<reqwest::Error>() {
                    Ok(error) => ArrivalError::Transfer(error),
                    Err(error) => ArrivalError::Compression(error),
                })?;
        let bytes = Bytes::copy_from_slice(bytes);
        source.consume(bytes.len());
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

tools::debug_fields!(self: Body { url = self.url.as_str(), received });

/// A response whose body is read as it arrives, from [`HttpClient::stream`](crate::HttpClient::stream). A drop closes the connection.
///
/// ```
/// use tools::ToolContext;
/// use tools_http::{HttpClient, HttpError, Request};
///
/// # #[expect(dead_code)]
/// async fn first_line(client: &HttpClient, cx: &ToolContext) -> Result<Vec<u8>, HttpError> {
///     let mut response = client.stream(cx, Request::get("https://example.org/log")?).await?;
///     let mut line = Vec::new();
///     while let Some(bytes) = response.chunk().await? {
///         line.extend_from_slice(&bytes);
///         if line.contains(&b'\n') || line.len() > 1000 {
///             break;
///         }
///     }
///     Ok(line)
/// }
/// ```
#[derive(Debug)]
pub struct ResponseStream {
    /// The final URL, after redirects.
    pub url: Url,
    /// The URLs that redirected, in order. Empty without redirects.
    pub redirects: Vec<Url>,
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    pub(crate) body: Body,
    pub(crate) bounds: Bounds,
}

impl ResponseStream {
    /// Returns the media type without parameters, such as `text/event-stream`. Returns `None` if there is no valid one.
    pub fn media_type(&self) -> Option<String> {
        media_type(&self.headers)
    }

    /// Returns the next bytes of the body, decompressed. Returns `None` at the end. The future may be dropped without losing bytes.
    ///
    /// Bytes that may begin a secret are held back until more arrive, see [`HttpClient::send`](crate::HttpClient::send).
    ///
    /// # Errors
    /// Returns an [`HttpError`] if the connection breaks, or the time or the call ends.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        self.bounds.run(self.body.chunk()).await
    }
}
