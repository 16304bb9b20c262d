//! [`BoundSecret`]: a secret header value of one host.

use std::fmt;

use http::{HeaderName, HeaderValue};

/// A secret that the client sends in one header to one origin. Neither a tool nor a model sees it.
#[derive(Clone)]
pub struct BoundSecret {
    /// The name, which replaces the value in responses.
    pub(crate) name: String,
    /// The origin, such as `https://api.example.org`.
    pub(crate) origin: url::Origin,
    pub(crate) header: HeaderName,
    /// The value of the header, which contains the secret.
    pub(crate) value: HeaderValue,
}

impl BoundSecret {
    /// Binds a secret to an origin, such as `https://api.example.org`, and a header. `prefix` precedes the secret in the header:
    /// `"Bearer "` or nothing.
    ///
    /// # Errors
    /// Returns an error if the origin is not an `https` URL or one of a loopback host, or if the header or the secret has characters
    /// that a header cannot have.
    pub fn new(name: &str, origin: &str, header: &str, prefix: &str, secret: &str) -> Result<Self, crate::HttpError> {
        let invalid = |reason: &str| crate::HttpError::Secret { name: name.to_owned(), reason: reason.to_owned() };
        let url = url::Url::parse(origin).map_err(|_| invalid("its origin is not a URL; write https://host"))?;
        let header = header.parse().map_err(|_| invalid("its header name has forbidden characters"))?;
        let mut value = HeaderValue::from_str(&format!("{prefix}{secret}"))
            .map_err(|_| invalid("it has characters that a header cannot have"))?;
        value.set_sensitive(true);
        Ok(Self { name: name.to_owned(), origin: url.origin(), header, value })
    }
}

impl fmt::Debug for BoundSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundSecret").field("name", &self.name).field("header", &self.header).finish_non_exhaustive()
    }
}
