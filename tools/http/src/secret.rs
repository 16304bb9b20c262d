//! [`BoundSecret`]: a secret header value of one origin.

use http::{HeaderName, HeaderValue};
use tools::Secret;
use tools::protocol::{InvalidTarget, Normaliser};
use url::{Origin, Url};

use crate::error::HttpError;
use crate::{headers, location};

/// A secret that the client sends in one header to one origin. Neither a tool nor a model sees it.
///
/// Replaces a header of this name that a tool sets. In responses and errors, its value is replaced by `[secret:NAME]`, see
/// [`HttpClient::send`](crate::HttpClient::send).
///
/// ```
/// use tools_http::{BoundSecret, HttpOptions};
///
/// # let key = "a key of a variable or a file";
/// let secret = BoundSecret::new("brave", "https://api.search.brave.com", "X-Subscription-Token", "", key)?;
/// let options = HttpOptions { secrets: vec![secret], ..HttpOptions::default() };
/// # let _ = options;
/// # Ok::<(), tools_http::HttpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoundSecret {
    pub(crate) name: String,
    pub(crate) url: Url,
    pub(crate) header: HeaderName,
    pub(crate) prefix: String,
    pub(crate) secret: Secret,
    /// The prefix and the secret.
    pub(crate) value: HeaderValue,
}

impl BoundSecret {
    /// The minimum length in bytes. A shorter secret would occur in responses by chance, and replacing it would damage them.
    pub const MIN_LENGTH: usize = 8;

    /// Binds a secret to an origin, such as `https://api.example.org`, and a header. `prefix` precedes the secret in the header:
    /// `"Bearer "` or nothing.
    ///
    /// The origin is `https`, or `http` for a host of [`private_hosts`](crate::HttpOptions::private_hosts).
    ///
    /// # Errors
    /// Returns [`HttpError::Secret`] if
    ///
    /// - the origin is not a scheme and a host;
    /// - the name has characters other than letters, digits, `-`, `_` and `.`;
    /// - the secret is shorter than [`MIN_LENGTH`](Self::MIN_LENGTH);
    /// - the header is one that only the client sets, or cannot have these characters.
    pub fn new(
        name: &str,
        origin: &str,
        header: &str,
        prefix: &str,
        secret: &str,
    ) -> Result<Self, HttpError> {
        let invalid = |reason: &str| HttpError::Secret {
            name: name.to_owned(),
            reason: reason.to_owned(),
        };
        let is_of_name = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        if name.is_empty() || !name.bytes().all(is_of_name) {
            return Err(invalid(
                "its name has characters other than letters, digits, `-`, `_` and `.`; rename it",
            ));
        }
        // The error of the URL repeats it, and it may have a password.
        let url = location::parse(origin).map_err(|_| match Normaliser::Host.apply(origin) {
            Err(InvalidTarget::Host { reason, .. }) => {
                invalid(&format!("its origin is not a plain URL: {reason}"))
            }
            _ => invalid("its origin is not a URL; write https://host"),
        })?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(invalid("its origin has a path; write https://host"));
        }
        let header: HeaderName = header.parse().map_err(|_| {
            invalid("its header name has forbidden characters; check the service's manual")
        })?;
        if headers::is_reserved(&header) {
            return Err(invalid(
                "only the client sets its header; check the service's manual",
            ));
        }
        if secret.len() < Self::MIN_LENGTH {
            return Err(invalid(
                "it has fewer than 8 bytes, so it cannot be told from other text; use a longer one",
            ));
        }
        let is_plain =
            secret.trim() == secret && secret.bytes().all(|b| (b' '..=b'~').contains(&b));
        let mut value =
            HeaderValue::from_str(&format!("{prefix}{secret}")).ok().filter(|_| is_plain).ok_or_else(|| {
                invalid("it has characters that a header cannot have; remove line breaks and spaces around it")
            })?;
        // The debug output then leaves it out, and HTTP/2 keeps it out of the table of headers.
        value.set_sensitive(true);
        Ok(Self {
            name: name.to_owned(),
            url,
            header,
            prefix: prefix.to_owned(),
            secret: Secret::new(secret),
            value,
        })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the origin.
    pub fn origin(&self) -> Origin {
        self.url.origin()
    }
}
