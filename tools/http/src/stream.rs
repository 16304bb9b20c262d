//! [`ResponseStream`]: a response whose body is read as it arrives.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use url::Url;

use crate::HttpError;
use crate::body::Body;
use crate::bounds::Bounds;
use crate::response::media_type;

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
#[non_exhaustive]
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
