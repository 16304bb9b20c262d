//! [`HttpClient`]: the service that makes requests for tools.

use std::sync::Arc;
use std::time::SystemTime;

use http::{Method, StatusCode};
use tools::ToolContext;
use url::Url;

use crate::body::ResponseStream;
use crate::bounds::Bounds;
use crate::cache::{Answer, Cache, CacheRequest, Found};
use crate::chain::Chain;
use crate::connection::Connection;
use crate::error::HttpError;
use crate::exchange::Exchange;
use crate::hop::Hop;
use crate::options::HttpOptions;
use crate::proxy::Proxy;
use crate::request::Request;
use crate::response::Response;
use crate::slots::Slots;
use crate::{headers, redirect};

/// The service that makes requests for tools. Cloning is cheap, and creating one connects and loads nothing.
///
/// ```
/// use tools::Host;
/// use tools_http::HttpClient;
///
/// let cx = Host::new().with_service(HttpClient::default());
/// # let _ = cx;
/// ```
#[derive(Clone)]
pub struct HttpClient {
    exchange: Arc<Exchange>,
    cache: Arc<Cache>,
}

impl HttpClient {
    /// Creates a client.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] or [`HttpError::Secret`] if an option is invalid.
    pub fn from_options(options: HttpOptions) -> Result<Self, HttpError> {
        let slots = Arc::new(Slots::new(&options.limits));
        Self::with_slots(options, slots)
    }

    fn with_slots(options: HttpOptions, slots: Arc<Slots>) -> Result<Self, HttpError> {
        let cache = Arc::new(Cache::new(&options.limits));
        let exchange = Arc::new(Exchange::new(options, slots)?);
        Ok(Self { exchange, cache })
    }

    /// Creates a client with the same connections and limits, and a cache of its own.
    #[must_use]
    pub fn new_session(&self) -> Self {
        Self {
            exchange: self.exchange.clone(),
            cache: Arc::new(Cache::new(&self.exchange.limits)),
        }
    }

    /// Creates a client with other options, and connections and a cache of its own. Its requests count towards this client's
    /// `max_connections` and `max_connections_per_host`, which replace those of the options.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] or [`HttpError::Secret`] if an option is invalid.
    pub fn new_sibling(&self, options: HttpOptions) -> Result<Self, HttpError> {
        Self::with_slots(options, self.exchange.slots.clone())
    }

    /// Connects to a host and port for another protocol than HTTP. The caller limits the time of the protocol.
    ///
    /// - The target is `net:write:host:port`, without the port if it is 80.
    /// - The address filter, the private hosts and the limits of time and concurrent connections are those of requests.
    /// - There is no way through the [proxy](HttpOptions::proxy) of the options.
    ///
    /// # Errors
    /// Returns an [`HttpError`] if the host is not permitted, or no connection is made.
    pub async fn connect(
        &self,
        cx: &ToolContext,
        host: &str,
        port: u16,
    ) -> Result<Connection, HttpError> {
        Connection::open(cx, &self.exchange, host, port).await
    }

    /// Creates a proxy for a program that the call of this context runs. It has the client's resolver, private hosts and limit of time for
    /// a connection, and none of its secrets.
    pub fn proxy(&self, cx: &ToolContext) -> Proxy {
        Proxy::new(self.exchange.clone(), cx)
    }

    /// Sends a request, follows redirects and reads the response. The context's cancellation and deadline end it.
    ///
    /// - Each URL is checked: its target against the grant (`net:read:host` for `GET` and `HEAD`, `net:write:host` for other methods),
    ///   and its address.
    /// - Secrets are added to requests to their origins, except after a redirect from another origin, which chose the URL.
    /// - In responses of an origin with a secret, of hosts that it redirects to, and in their errors, each secret is replaced by
    ///   `[secret:NAME]`. This catches a server that echoes the request. A server that wants to reveal its own secret can disguise it.
    ///   The [README](crate#secrets) lists the encodings that are found.
    /// - A `GET` without secrets is answered from the session's cache if the response in it is fresh, or the server confirms it. The
    ///   tool's own headers other than `accept`, `accept-language` and `cache-control` turn the cache off.
    ///
    /// # Errors
    /// Returns an [`HttpError`] if a host is not permitted, a limit is reached or the request fails. A status of 400 and above is no
    /// error.
    pub async fn send(&self, cx: &ToolContext, request: Request) -> Result<Response, HttpError> {
        let limits = &self.exchange.limits;
        let max_body_bytes = request.max_body_bytes.unwrap_or(usize::MAX);
        let max_body_bytes = max_body_bytes.min(limits.max_body_bytes);
        let bounds = Bounds::new(cx, &request.url, limits.total);
        let answered = bounds.run(async {
            let mut chain = Chain::new(&request)?;
            loop {
                chain.check(cx, &self.exchange)?;
                let answer = self.answer(&chain.hop, max_body_bytes).await?;
                if !chain.follow(answer.status, &answer.headers, limits)? {
                    let (url, redirects) = chain.into_urls();
                    return Ok(Response {
                        url,
                        redirects,
                        status: answer.status,
                        headers: answer.headers,
                        body: answer.body,
                        is_cut: answer.is_cut,
                    });
                }
            }
        });
        answered.await
    }

    /// Sends a request, follows redirects and reads the headers of the response, whose body is read as it arrives. The context's
    /// cancellation and deadline end the body too, and so does [`HttpLimits::total`](crate::HttpLimits::total).
    ///
    /// - URLs, secrets and responses are treated as by [`send`](Self::send).
    /// - The session's cache has no part in it.
    /// - The response counts as a concurrent request until its headers: a stream may last for hours, and others would wait for it.
    /// - The reader limits the size of the body. The request's and the client's limits do not apply to it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn stream(
        &self,
        cx: &ToolContext,
        request: Request,
    ) -> Result<ResponseStream, HttpError> {
        let limits = &self.exchange.limits;
        let bounds = Bounds::new(cx, &request.url, limits.total);
        let answered = bounds.run(async {
            let mut chain = Chain::new(&request)?;
            loop {
                chain.check(cx, &self.exchange)?;
                let headers = chain.hop.headers.clone();
                let opened = self.exchange.open(&chain.hop, headers).await;
                self.forget(&chain.hop);
                let mut opened = opened?;
                if !chain.follow(opened.status, &opened.headers, limits)? {
                    // The response no longer counts as a concurrent request.
                    opened.body.slot = None;
                    return Ok((chain, opened));
                }
            }
        });
        let (chain, opened) = answered.await?;
        let (url, redirects) = chain.into_urls();
        Ok(ResponseStream {
            url,
            redirects,
            status: opened.status,
            headers: opened.headers,
            body: opened.body,
            bounds,
        })
    }

    /// Returns the answer to one request, from the cache or the server.
    async fn answer(&self, hop: &Hop, max_body_bytes: usize) -> Result<Answer, HttpError> {
        let request = cache_request(hop);
        let mut names = hop.headers.keys();
        let is_cached = hop.method == Method::GET
            && hop.body.is_none()
            && names.all(|name| headers::HARMLESS.contains(name))
            && self.exchange.secrets(&hop.url).next().is_none();
        let Some(request) = request.filter(|_| is_cached) else {
            let answer = self.fetch(hop, hop.headers.clone(), max_body_bytes).await;
            self.forget(hop);
            return answer;
        };
        let conditions = match self.cache.find(&request, SystemTime::now()) {
            Found::Fresh(answer) => return check_size(answer, &hop.url, max_body_bytes),
            Found::Stale(headers) => Some(headers),
            Found::Nothing => None,
        };
        let is_conditional = conditions.is_some();
        let headers = conditions.unwrap_or_else(|| hop.headers.clone());
        let mut answer = self.fetch(hop, headers, max_body_bytes).await?;
        if is_conditional && answer.status == StatusCode::NOT_MODIFIED {
            let now = SystemTime::now();
            if let Some(answer) = self.cache.confirm(&request, &answer.headers, now) {
                return check_size(answer, &hop.url, max_body_bytes);
            }
            answer = self.fetch(hop, hop.headers.clone(), max_body_bytes).await?;
        }
        self.cache.store(&request, &answer, SystemTime::now());
        Ok(answer)
    }

    /// Requests the answer from the server. The body of a redirect is not read.
    async fn fetch(
        &self,
        hop: &Hop,
        headers: http::HeaderMap,
        max_body_bytes: usize,
    ) -> Result<Answer, HttpError> {
        let opened = self.exchange.open(hop, headers).await?;
        let (body, is_cut) = match redirect::next(hop, opened.status, &opened.headers)? {
            Some(_) => Default::default(),
            None => opened.body.read(max_body_bytes).await?,
        };
        Ok(Answer {
            status: opened.status,
            headers: opened.headers,
            body,
            is_cut,
        })
    }

    /// Removes the stored response if the request may have changed the resource, even if its answer was lost.
    fn forget(&self, hop: &Hop) {
        if let Some(request) = cache_request(hop).filter(|_| !hop.method.is_safe()) {
            self.cache.remove(&request);
        }
    }
}

tools::debug_fields!(self: HttpClient {});

impl Default for HttpClient {
    /// Creates a client with default options.
    fn default() -> Self {
        Self::from_options(HttpOptions::default())
            .unwrap_or_else(|_| unreachable!("the default options are valid"))
    }
}

/// Refuses a stored answer above the limit. Another request of the session may have stored it under a higher one.
fn check_size(answer: Answer, url: &Url, max_body_bytes: usize) -> Result<Answer, HttpError> {
    if answer.body.len() > max_body_bytes {
        return Err(HttpError::too_large(url, max_body_bytes));
    }
    Ok(answer)
}

/// Returns the request as the cache sees it. Returns `None` if its URL cannot be sent.
fn cache_request(hop: &Hop) -> Option<CacheRequest> {
    let mut request = http::Request::new(());
    *request.method_mut() = hop.method.clone();
    *request.uri_mut() = hop.url.as_str().parse().ok()?;
    *request.headers_mut() = hop.headers.clone();
    Some(request)
}
