//! [`Response`]: a response to a tool.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use mime::Mime;
use serde::de::DeserializeOwned;
use tools::ToolError;
use url::Url;

use crate::error::HttpError;

/// A response, whole and decompressed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    /// The final URL, after redirects.
    pub url: Url,
    /// The URLs that redirected, in order. Empty without redirects.
    pub redirects: Vec<Url>,
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// True if the body has only its beginning, because its compressed data was damaged or ended early.
    pub is_cut: bool,
}

impl Response {
    /// Returns the media type without parameters, such as `text/html`. Returns `None` if there is no valid one.
    pub fn media_type(&self) -> Option<String> {
        media_type(&self.headers)
    }

    /// Returns the character set of the content type. Returns `None` if it names none.
    pub fn charset(&self) -> Option<String> {
        let text = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let (_, value) = text
            .split(';')
            .skip(1)
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _): &(&str, &str)| name.trim().eq_ignore_ascii_case("charset"))?;
        Some(value.trim().trim_matches(['"', '\'']).to_owned())
            .filter(|charset| !charset.is_empty())
    }

    /// Returns the wait that the header `Retry-After` asks for, in seconds or until a date. Returns `None` if there is no valid one.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
        let seconds = text.parse().map(Duration::from_secs).ok();
        seconds.or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(SystemTime::now()).unwrap_or_default())
        })
    }

    /// Returns the error of a status other than success, with a message for the model: transient, with the wait of
    /// [`retry_after`](Self::retry_after), for 429 and faults of the server.
    pub fn to_error(&self, message: impl Into<String>) -> ToolError {
        if self.status != StatusCode::TOO_MANY_REQUESTS && !self.status.is_server_error() {
            return ToolError::execution_failed(message);
        }
        self.retry_after()
            .into_iter()
            .fold(ToolError::transient(message), ToolError::with_retry_after)
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// Returns [`HttpError::Json`] if the body is not JSON of this type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        let failed = |reason: String| {
            // A captive portal and a broken proxy answer with a page and status 200.
            let is_page = self.media_type().is_some_and(|kind| kind == "text/html");
            let page = "it is text/html, so a proxy or a login page may be in between";
            HttpError::Json {
                reason: if is_page { page.to_owned() } else { reason },
            }
        };
        if self.is_cut {
            return Err(failed(
                "its compressed data is damaged or ends early".to_owned(),
            ));
        }
        let text =
            tools_text::decode_input(&self.body).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    }
}

/// Returns the media type without parameters. Returns `None` if there is no valid one.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let essence = text.split(';').next().unwrap_or_default().trim();
    let mime: Mime = essence.parse().ok()?;
    Some(mime.essence_str().to_owned())
}
