//! [`Chain`]: a request and the redirects that it followed.

use http::{HeaderMap, Method, StatusCode};
use tools::ToolContext;
use url::Url;

use crate::error::HttpError;
use crate::exchange::Exchange;
use crate::hop::Hop;
use crate::limits::HttpLimits;
use crate::redirect;
use crate::request::Request;

/// A request and the redirects that it followed.
pub(crate) struct Chain {
    pub(crate) hop: Hop,
    before: Vec<(Method, Url)>,
    max_redirects: usize,
}

impl Chain {
    /// Creates the chain of a request without redirects.
    ///
    /// # Errors
    /// Returns [`HttpError::Header`] if the tool set a header that only the client may set.
    pub(crate) fn new(request: &Request) -> Result<Self, HttpError> {
        Ok(Self {
            hop: Hop::new(request)?,
            before: Vec::new(),
            max_redirects: request.max_redirects,
        })
    }

    /// Checks the target and the host of the next request.
    ///
    /// # Errors
    /// As [`Hop::check`].
    pub(crate) fn check(&mut self, cx: &ToolContext, exchange: &Exchange) -> Result<(), HttpError> {
        self.hop.check(cx, &exchange.filter)?;
        // Never reset: a host that knows a secret can write it into the URL to which it redirects.
        self.hop.is_masked |= exchange.secrets(&self.hop.url).next().is_some();
        Ok(())
    }

    /// Moves on if the answer is a redirect. Returns false if it is not.
    ///
    /// # Errors
    /// Returns [`HttpError::Redirects`] if there are too many, and [`HttpError::Url`] if this one is refused.
    pub(crate) fn follow(
        &mut self,
        status: StatusCode,
        answered: &HeaderMap,
        limits: &HttpLimits,
    ) -> Result<bool, HttpError> {
        let Some(next) = redirect::next(&self.hop, status, answered)? else {
            return Ok(false);
        };
        let Hop { method, url, .. } = std::mem::replace(&mut self.hop, next);
        self.before.push((method, url));
        let Hop { method, url, .. } = &self.hop;
        // With the method, because after 303 a `POST` can lead to a `GET` of its own URL.
        let mut before = self.before.iter();
        let is_circle = before.any(|before| (&before.0, &before.1) == (method, url));
        let limit = limits.max_redirects.min(self.max_redirects);
        if is_circle || self.before.len() > limit {
            return Err(HttpError::Redirects {
                url: url.to_string(),
                limit,
            });
        }
        Ok(true)
    }

    /// Returns the final URL, and those that redirected.
    pub(crate) fn into_urls(self) -> (Url, Vec<Url>) {
        let redirects = self.before.into_iter().map(|(_, url)| url).collect();
        (self.hop.url, redirects)
    }
}
