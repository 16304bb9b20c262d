//! [`Response`]: a response to a tool.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use mime::Mime;
use serde::de::DeserializeOwned;
use url::Url;

use crate::HttpError;

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
}

impl Response {
    /// Returns the media type without parameters, such as `text/html`. Returns `None` if there is no valid one.
    pub fn media_type(&self) -> Option<String> {
        media_type(&self.headers)
    }

    /// Returns the character set of the content type. Returns `None` if it names none.
    pub fn charset(&self) -> Option<String> {
        mime(&self.headers)?.get_param(mime::CHARSET).map(|charset| charset.as_str().to_owned())
    }

    /// Returns the wait that the header `Retry-After` asks for, in seconds or until a date. Returns `None` if there is no valid one.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
        let seconds = text.parse().map(Duration::from_secs).ok();
        seconds.or_else(|| {
            Some(httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).unwrap_or_default())
        })
    }

    /// Parses the body as JSON.
    ///
    /// # Errors
    /// Returns [`HttpError::Json`] if the body is not JSON of this type.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::Json { reason: error.to_string() })
    }
}

/// Returns the media type without parameters. Returns `None` if there is no valid one.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<String> {
    mime(headers).map(|mime| mime.essence_str().to_owned())
}

fn mime(headers: &HeaderMap) -> Option<Mime> {
    headers.get(header::CONTENT_TYPE)?.to_str().ok()?.parse().ok()
}
