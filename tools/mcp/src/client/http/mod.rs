//! [`HttpServer`]: a server that is reached by streamable HTTP.

mod challenges;
mod events;
mod oauth;
mod post;
mod requests;
mod url_secrets;

use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tools::protocol::{Access, InvalidTarget, Target};
use tools::{Grant, Host, Secret};
use tools_http::{
    BoundSecret, HeaderMap, HeaderName, HeaderValue, HttpError, HttpLimits, HttpOptions, Method,
    Request, Url, private_host,
};

pub use self::oauth::{LoginError, OAuthClient};
pub(crate) use self::requests::Requests;
use crate::client::http::url_secrets::UrlSecrets;
use crate::client::matching::Matched;
use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::unanswered::Unanswered;

/// The requests of one connection, with the tokens of a login.
pub(crate) type Authorised = rmcp::transport::AuthClient<Requests>;

/// The longest wait before a stream that broke is opened again.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// The requests that one server has at the same time.
const MAX_REQUESTS: usize = 64;

/// A server that is reached by streamable HTTP.
///
/// - Requests go to the scheme, host and port of the URL alone, and so do redirects. The address filter of [`tools_http`] applies. If the
///   URL names `localhost` or a loopback or private address, that host is an exception to it; others are for the user's options.
/// - No time limit is set: the deadline of a call ends its request, and a stream of messages lasts as long as the connection.
///
/// ```
/// use tools_mcp::client::HttpServer;
///
/// let server = HttpServer::new("https://mcp.example.org/mcp")?.with_secret("authorization", "Bearer a key of a file")?;
/// # let _ = server;
/// # Ok::<(), tools_http::HttpError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpServer {
    url: Url,
    headers: HeaderMap,
    secrets: Vec<(HeaderName, Secret)>,
    url_secrets: UrlSecrets,
    options: HttpOptions,
    login: oauth::Settings,
}

impl HttpServer {
    /// Creates a server from the URL of its endpoint.
    ///
    /// # Errors
    /// Returns [`HttpError::Url`] if the URL is invalid, ambiguous, not `http` or `https`, or has credentials.
    pub fn new(url: &str) -> Result<Self, HttpError> {
        let url = Request::new(Method::POST, url)?.url().clone();
        Ok(Self {
            url,
            headers: HeaderMap::new(),
            secrets: Vec::new(),
            url_secrets: UrlSecrets::default(),
            options: HttpOptions::default(),
            login: oauth::Settings::default(),
        })
    }

    /// Adds a header to each request.
    ///
    /// # Errors
    /// Returns [`HttpError::Header`] if only the client sets this header, and [`HttpError::Option`] if it is not a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, HttpError> {
        let name = header_name(name)?;
        self.headers
            .insert(name, HeaderValue::from_str(value).map_err(|_| no_header())?);
        Ok(self)
    }

    /// Adds a header whose value is a secret. A scheme, such as `Bearer `, may precede it. In responses and errors, the secret is
    /// replaced by `[secret:NAME]` with the name of the header.
    ///
    /// # Errors
    /// Returns [`HttpError::Header`] if only the client sets this header, and [`HttpError::Option`] if it is not a header.
    pub fn with_secret(mut self, name: &str, value: &str) -> Result<Self, HttpError> {
        self.secrets.push((header_name(name)?, Secret::new(value)));
        Ok(self)
    }

    /// Sets the values in the URL that are secrets, such as a key in its query. Errors then show neither its path nor its query, and
    /// `[secret:url]` in place of a value of at least 8 bytes.
    pub fn with_url_secrets(mut self, values: impl IntoIterator<Item = String>) -> Self {
        self.url_secrets = UrlSecrets::new(&self.url, values);
        self
    }

    /// Returns a text with `[secret:url]` in place of each [secret of the URL](Self::with_url_secrets).
    pub fn mask(&self, text: String) -> String {
        self.url_secrets.mask(&self.url, text)
    }

    /// Sets the user's options of HTTP, such as a proxy, root certificates and private hosts. Their limits of sizes and time have no
    /// effect, and their secrets go to their own origins.
    pub fn with_options(self, options: HttpOptions) -> Self {
        Self { options, ..self }
    }

    /// Makes a transport of its own for one connection. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// Returns [`HttpError::Secret`] or [`HttpError::Option`] if a secret or an option cannot be used.
    pub(crate) async fn transport(
        &self,
    ) -> Result<Matched<Unanswered<StreamableHttpClientTransport<Authorised>>>, HttpError> {
        let mut retry = ExponentialBackoff::default();
        retry.max_delay = Some(MAX_RETRY_WAIT);
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .max_sse_event_size(MAX_MESSAGE_BYTES)
            .max_json_response_size(MAX_MESSAGE_BYTES);
        config.retry_config = Arc::new(retry);
        config.custom_headers = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let requests = self.requests()?;
        let count = requests.unanswered.clone();
        let requests = rmcp::transport::AuthClient::new(requests, self.authorisation().await?);
        let transport = StreamableHttpClientTransport::with_client(requests, config);
        let unanswered = Unanswered {
            transport,
            count,
            waits: false,
        };
        Ok(Matched {
            transport: unanswered,
            open: Arc::default(),
            discovery: None,
        })
    }

    /// Returns the names of the headers that the user set.
    fn header_names(&self) -> impl Iterator<Item = &HeaderName> {
        self.headers
            .keys()
            .chain(self.secrets.iter().map(|(name, _)| name))
    }

    /// Makes the client of one connection.
    fn requests(&self) -> Result<Requests, HttpError> {
        let mut options = self.options.clone();
        if private_host(&self.url).is_some() {
            options.private_hosts.push(tools_http::net_host(&self.url));
        }
        let origin = self.url.origin().ascii_serialization();
        for (name, value) in &self.secrets {
            let value = value.expose();
            // A scheme, such as `Bearer `, is none.
            let (prefix, secret) = value.split_at(value.find(' ').map_or(0, |space| space + 1));
            options.secrets.push(BoundSecret::new(
                name.as_str(),
                &origin,
                name.as_str(),
                prefix,
                secret,
            )?);
        }
        let mut limits = HttpLimits::default();
        (limits.first_byte, limits.idle, limits.total) =
            (Duration::MAX, Duration::MAX, Duration::MAX);
        (limits.max_connections, limits.max_connections_per_host) = (MAX_REQUESTS, MAX_REQUESTS);
        let grant = grant_of(&self.url).map_err(|error| HttpError::Url {
            url: self.url.to_string(),
            reason: error.to_string(),
        })?;
        let cx = Host::new().with_grant(grant);
        Requests::new(
            HttpOptions { limits, ..options },
            origin,
            cx,
            self.url_secrets.clone(),
            self.login.challenges.clone(),
        )
    }
}

// Leaves out the values of headers and secrets.
tools::debug_fields!(self: HttpServer {
    url = self.url_secrets.mask_url(&self.url),
    headers = self.header_names().collect::<Vec<_>>()
});

/// Returns a grant for the host of a URL alone.
fn grant_of(url: &Url) -> Result<Grant, InvalidTarget> {
    let host = tools_http::net_host(url);
    let clause =
        |access| Ok::<_, InvalidTarget>(Target::new(access, "net", host.clone())?.to_clause());
    Ok(Grant::new([clause(Access::Read)?, clause(Access::Write)?]))
}

/// Parses the name of a header that the user may set.
fn header_name(name: &str) -> Result<HeaderName, HttpError> {
    let name: HeaderName = name.parse().map_err(|_| no_header())?;
    // The transport sets these itself.
    let is_own = ["accept", "content-type", "last-event-id"].contains(&name.as_str());
    if is_own || name.as_str().starts_with("mcp-") {
        return Err(HttpError::Header { name });
    }
    Ok(name)
}

fn no_header() -> HttpError {
    let reason =
        "one has characters that a header cannot have; remove line breaks and check its name"
            .to_owned();
    HttpError::Option {
        option: "headers",
        reason,
    }
}

#[cfg(test)]
mod tests;
