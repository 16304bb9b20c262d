//! [`Hop`]: one request of a chain of redirects.

use bytes::Bytes;
use http::{HeaderMap, Method};
use tools::{Access, ToolContext};
use url::Url;

use crate::address::AddressFilter;
use crate::error::HttpError;
use crate::request::Request;
use crate::{headers, location};

/// One request of a chain of redirects.
#[derive(Clone, Debug)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    /// Whether the tool itself, or a redirect within the origin that it named, chose the URL. Others get no secrets.
    pub(crate) is_own: bool,
    /// Whether the host of this hop, or of one before it, may know a secret.
    pub(crate) is_masked: bool,
}

impl Hop {
    /// Creates the first hop of a request.
    ///
    /// # Errors
    /// Returns [`HttpError::Header`] if the tool set a header that only the client may set.
    pub(crate) fn new(request: &Request) -> Result<Self, HttpError> {
        let mut names = request.headers.keys();
        if let Some(name) = names.find(|name| headers::is_reserved(name)) {
            return Err(HttpError::Header { name: name.clone() });
        }
        Ok(Self {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            is_own: true,
            is_masked: false,
        })
    }

    /// Checks the target and the host.
    ///
    /// # Errors
    /// - [`HttpError::Refused`] if the grant or the policy does not permit the target.
    /// - [`HttpError::Address`] if the host is an address that is not public.
    pub(crate) fn check(&self, cx: &ToolContext, filter: &AddressFilter) -> Result<(), HttpError> {
        let is_read = [Method::GET, Method::HEAD].contains(&self.method);
        let access = if is_read { Access::Read } else { Access::Write };
        cx.require(access, "net", &location::net_host(&self.url))
            .map_err(|error| HttpError::refused(&self.url, error))?;
        filter.check_literal(&self.url)
    }
}
