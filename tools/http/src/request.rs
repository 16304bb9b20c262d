//! [`Request`]: a request of a tool.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde::Serialize;
use url::Url;

use crate::error::HttpError;
use crate::location;

/// A request of a tool.
///
/// ```
/// use tools_http::{HeaderName, HeaderValue, Request};
///
/// let request = Request::get("https://example.org/feed")?
///     .with_query("about", "nuts & bolts")
///     .with_header(HeaderName::from_static("accept"), HeaderValue::from_static("application/rss+xml"))
///     .with_max_body_bytes(100_000);
/// assert_eq!(request.url().as_str(), "https://example.org/feed?about=nuts+%26+bolts");
/// # Ok::<(), tools_http::HttpError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) max_body_bytes: Option<usize>,
    /// The number of redirects that are followed at most, if it is below the limit of the client.
    pub max_redirects: usize,
}

impl Request {
    /// Creates a `GET` request.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn get(url: &str) -> Result<Self, HttpError> {
        Self::new(Method::GET, url)
    }

    /// Creates a request.
    ///
    /// # Errors
    /// Returns [`HttpError::Url`] if the URL is invalid, ambiguous, not `http` or `https`, or has credentials, or if the method is
    /// `CONNECT` or `TRACE`.
    pub fn new(method: Method, url: &str) -> Result<Self, HttpError> {
        let url = location::parse(url)?;
        if [Method::CONNECT, Method::TRACE].contains(&method) {
            let reason = format!("{method} is not a method of requests to a URL; use another one");
            return Err(HttpError::url(&url, reason));
        }
        Ok(Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: None,
            max_body_bytes: None,
            max_redirects: usize::MAX,
        })
    }

    /// Adds a name and a value to the query of the URL. Both are encoded, so that a value of a model cannot add another one.
    pub fn with_query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// Sets a header. After a redirect to another origin, only `accept`, `accept-language` and `cache-control` are still sent.
    ///
    /// Headers of the connection, `host` and `user-agent` belong to the client: [`HttpClient::send`](crate::HttpClient::send) refuses
    /// them.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the body.
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Sets a body of JSON and its content type.
    ///
    /// # Errors
    /// Returns [`HttpError::Json`] if the value cannot be serialised.
    pub fn with_json(self, value: &impl Serialize) -> Result<Self, HttpError> {
        let body = serde_json::to_vec(value).map_err(|error| HttpError::Json {
            reason: error.to_string(),
        })?;
        let json = HeaderValue::from_static("application/json");
        Ok(self.with_header(header::CONTENT_TYPE, json).with_body(body))
    }

    /// Lowers the maximum size of the response's body after decompression, in bytes.
    pub fn with_max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = Some(bytes);
        self
    }

    /// Returns the method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the URL.
    pub fn url(&self) -> &Url {
        &self.url
    }
}
