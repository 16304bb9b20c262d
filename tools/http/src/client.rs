//! [`HttpClient`]: the service that makes requests for tools.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{Method, StatusCode};
use tokio::time::{Instant, timeout_at};
use tools::ToolContext;

use crate::answer::Answer;
use crate::cache::{Cache, CacheRequest, Found};
use crate::exchange::Exchange;
use crate::hop::Hop;
use crate::slots::Slots;
use crate::{HttpError, HttpOptions, Proxy, Request, Response, headers, redirect};

/// The service that makes requests for tools. Cloning is cheap, and creating one connects and loads nothing.
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
    exchange: Arc<Exchange>,
    cache: Arc<Cache>,
}

impl HttpClient {
    /// Creates a client with default options.
    pub fn new() -> Self {
        Self::from_options(HttpOptions::default()).unwrap_or_else(|_| unreachable!("the default options are valid"))
    }

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
        Ok(Self { exchange: Arc::new(Exchange::new(options, slots)?), cache })
    }

    /// Creates a client with the same connections and limits, and a cache of its own.
    #[must_use]
    pub fn new_session(&self) -> Self {
        Self { exchange: self.exchange.clone(), cache: Arc::new(Cache::new(&self.exchange.limits)) }
    }

    /// Creates a client with other options, and connections and a cache of its own. Its requests count towards this client's
    /// `max_connections` and `max_connections_per_host`, which replace those of the options.
    ///
    /// # Errors
    /// Returns [`HttpError::Option`] or [`HttpError::Secret`] if an option is invalid.
    pub fn new_sibling(&self, options: HttpOptions) -> Result<Self, HttpError> {
        Self::with_slots(options, self.exchange.slots.clone())
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
        let url = request.url.to_string();
        let limit = self.exchange.limits.total;
        let (now, deadline) = (Instant::now(), cx.deadline().map(Instant::from_std));
        // A limit of centuries overflows, and is none.
        let end = now.checked_add(limit).into_iter().chain(deadline).min();
        let end = end.unwrap_or_else(|| now + Duration::from_secs(86_400 * 365));
        let answered = cx.cancellation().run_until_cancelled(timeout_at(end, self.follow(cx, request))).await;
        match answered {
            None => Err(HttpError::Cancelled { url }),
            Some(Err(_)) => Err(HttpError::Time { url, limit: limit.min(end - now) }),
            Some(Ok(answered)) => answered,
        }
    }

    async fn follow(&self, cx: &ToolContext, request: Request) -> Result<Response, HttpError> {
        let Exchange { filter, limits, .. } = &*self.exchange;
        let max_body_bytes = request.max_body_bytes.unwrap_or(usize::MAX).min(limits.max_body_bytes);
        let (mut hop, mut before) = (Hop::new(&request)?, Vec::new());
        loop {
            hop.check(cx, filter)?;
            hop.is_masked |= self.exchange.secrets(&hop.url).next().is_some();
            let answer = self.answer(&hop, max_body_bytes).await?;
            let Some(next) = redirect::next(&hop, answer.status, &answer.headers)? else {
                let redirects = before.into_iter().map(|(_, url)| url).collect();
                let Answer { status, headers, body } = answer;
                return Ok(Response { url: hop.url, redirects, status, headers, body });
            };
            before.push((hop.method, hop.url));
            let is_circle = before.iter().any(|(method, url)| *method == next.method && *url == next.url);
            if is_circle || before.len() > limits.max_redirects {
                return Err(HttpError::Redirects { url: next.url.into(), limit: limits.max_redirects });
            }
            hop = next;
        }
    }

    /// Returns the answer to one request, from the cache or the server.
    async fn answer(&self, hop: &Hop, max_body_bytes: usize) -> Result<Answer, HttpError> {
        let request = cache_request(hop);
        let is_cached = hop.method == Method::GET
            && hop.body.is_none()
            && hop.headers.keys().all(|name| headers::HARMLESS.contains(name))
            && self.exchange.secrets(&hop.url).next().is_none();
        let Some(request) = request.filter(|_| is_cached) else {
            let answer = self.fetch(hop, hop.headers.clone(), max_body_bytes).await;
            // The request may have changed the resource, even if its answer was lost.
            if let Some(request) = cache_request(hop).filter(|_| !hop.method.is_safe()) {
                self.cache.remove(&request);
            }
            return answer;
        };
        let conditions = match self.cache.find(&request, SystemTime::now()) {
            Found::Fresh(answer) if answer.body.len() > max_body_bytes => {
                return Err(HttpError::TooLarge { url: hop.url.to_string(), limit: max_body_bytes });
            }
            Found::Fresh(answer) => return Ok(answer),
            Found::Stale(headers) => Some(headers),
            Found::Nothing => None,
        };
        let is_conditional = conditions.is_some();
        let mut answer = self.fetch(hop, conditions.unwrap_or_else(|| hop.headers.clone()), max_body_bytes).await?;
        if is_conditional && answer.status == StatusCode::NOT_MODIFIED {
            match self.cache.confirmed(&request, &answer.headers, SystemTime::now()) {
                Some(answer) if answer.body.len() > max_body_bytes => {
                    return Err(HttpError::TooLarge { url: hop.url.to_string(), limit: max_body_bytes });
                }
                Some(answer) => return Ok(answer),
                None => answer = self.fetch(hop, hop.headers.clone(), max_body_bytes).await?,
            }
        }
        self.cache.store(&request, &answer, SystemTime::now());
        Ok(answer)
    }

    /// Requests the answer from the server. The body of a redirect is not read.
    async fn fetch(&self, hop: &Hop, headers: http::HeaderMap, max_body_bytes: usize) -> Result<Answer, HttpError> {
        let mut opened = self.exchange.open(hop, headers).await?;
        let body = match redirect::next(hop, opened.status, &opened.headers)? {
            Some(_) => bytes::Bytes::new(),
            None => self.exchange.read(hop, &mut opened, max_body_bytes).await?,
        };
        Ok(Answer { status: opened.status, headers: opened.headers, body })
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the request as the cache sees it. Returns `None` if its URL cannot be sent.
fn cache_request(hop: &Hop) -> Option<CacheRequest> {
    let mut request = http::Request::new(());
    *request.method_mut() = hop.method.clone();
    *request.uri_mut() = hop.url.as_str().parse().ok()?;
    *request.headers_mut() = hop.headers.clone();
    Some(request)
}
