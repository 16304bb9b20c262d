//! [`HttpClient`]: the service that makes requests for tools.

use std::sync::Arc;

use bytes::BytesMut;
use http::{Method, StatusCode, header};
use tools::{Access, ToolContext};
use url::Url;

use crate::address::AddressFilter;
use crate::resolver::{FilteredResolver, SystemResolver};
use crate::{HttpError, HttpOptions, Request, Response};

/// The service that makes requests for tools. Cloning is cheap.
///
/// ```
/// use tools::ToolContext;
/// use tools_http::HttpClient;
///
/// let cx = ToolContext::new().with_service(HttpClient::new());
/// # let _ = cx;
/// ```
#[derive(Clone, Debug)]
pub struct HttpClient {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    client: reqwest::Client,
    filter: Arc<AddressFilter>,
    options: HttpOptions,
}

impl HttpClient {
    /// Creates a client with default options.
    pub fn new() -> Self {
        Self::from_options(HttpOptions::default()).unwrap_or_else(|_| unreachable!("the default options are valid"))
    }

    /// Creates a client.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] if an option is invalid.
    pub fn from_options(options: HttpOptions) -> Result<Self, HttpError> {
        let filter = Arc::new(AddressFilter { private_hosts: options.private_hosts.clone() });
        let inner = options.resolver.clone().unwrap_or_else(|| Arc::new(SystemResolver));
        let mut builder = reqwest::Client::builder()
            .user_agent(
                options.user_agent.clone().unwrap_or_else(|| concat!("toolcrib/", env!("CARGO_PKG_VERSION")).into()),
            )
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(FilteredResolver { inner, filter: filter.clone() }));
        for pem in &options.root_certificates {
            let certificate = reqwest::Certificate::from_pem(pem)
                .map_err(|error| HttpError::Option { option: "root_certificates", reason: error.to_string() })?;
            builder = builder.add_root_certificate(certificate);
        }
        let client =
            builder.build().map_err(|error| HttpError::Option { option: "proxy", reason: error.to_string() })?;
        Ok(Self { shared: Arc::new(Shared { client, filter, options }) })
    }

    /// Creates a client with the same connections and limits, and a cache of its own.
    #[must_use]
    pub fn new_session(&self) -> Self {
        self.clone()
    }

    /// Sends a request, follows redirects and reads the response.
    ///
    /// # Errors
    /// Returns an [`HttpError`] if a host is not permitted, a limit is reached or the request fails. A status of 400 and above is no
    /// error.
    pub async fn send(&self, cx: &ToolContext, request: Request) -> Result<Response, HttpError> {
        let Shared { client, filter, options } = &*self.shared;
        let (mut url, mut redirects) = (request.url.clone(), Vec::new());
        let access = if [Method::GET, Method::HEAD].contains(&request.method) { Access::Read } else { Access::Write };
        loop {
            permit(cx, filter, access, &url)?;
            let mut outgoing = client.request(request.method.clone(), url.clone()).headers(request.headers.clone());
            if let Some(body) = &request.body {
                outgoing = outgoing.body(body.clone());
            }
            for secret in options.secrets.iter().filter(|secret| secret.origin == url.origin()) {
                outgoing = outgoing.header(&secret.header, &secret.value);
            }
            let failed = |error: reqwest::Error| HttpError::Failed { url: url.to_string(), reason: error.to_string() };
            let mut answer = outgoing.send().await.map_err(failed)?;
            if answer.status().is_redirection()
                && let Some(location) = answer.headers().get(header::LOCATION)
            {
                let refused = |reason: &str| HttpError::Url { url: format!("{location:?}"), reason: reason.to_owned() };
                let text = location.to_str().map_err(|_| refused("it is not text"))?;
                let next = url.join(text).map_err(|_| refused("it is not a URL"))?;
                redirects.push(std::mem::replace(&mut url, next));
                if redirects.len() > options.limits.max_redirects {
                    return Err(HttpError::Redirects { url: url.to_string(), limit: options.limits.max_redirects });
                }
                continue;
            }
            let limit = request.max_body_bytes.unwrap_or(usize::MAX).min(options.limits.max_body_bytes);
            let mut body = BytesMut::new();
            while let Some(piece) = answer.chunk().await.map_err(failed)? {
                if body.len() + piece.len() > limit {
                    return Err(HttpError::TooLarge { url: url.to_string(), limit });
                }
                body.extend_from_slice(&piece);
            }
            let (status, headers): (StatusCode, _) = (answer.status(), answer.headers().clone());
            return Ok(Response { url, redirects, status, headers, body: body.freeze() });
        }
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

/// Checks one hop: its address and its target.
fn permit(cx: &ToolContext, filter: &AddressFilter, access: Access, url: &Url) -> Result<(), HttpError> {
    let refused = |reason: &str| HttpError::Url { url: url.to_string(), reason: reason.to_owned() };
    if !["http", "https"].contains(&url.scheme()) {
        return Err(refused("its scheme is not http or https"));
    }
    let host = url.host().ok_or_else(|| refused("it has no host"))?;
    let target = url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"));
    cx.require(access, "net", &target)
        .map_err(|error| HttpError::Refused { url: url.to_string(), error: Box::new(error) })?;
    filter.check_literal(&host)
}
