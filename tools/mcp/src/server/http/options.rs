//! [`HttpOptions`]: the options of a server over HTTP.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tools::{CancellationToken, Secret};
use tools_http::server::{LOOPBACK, host_names};

/// The options of a server over HTTP.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub(super) token: Option<Secret>,
    /// The names, with or without a port, that requests may have as `Host`, besides those of this machine.
    pub hosts: Vec<String>,
    /// The origins, such as `https://app.example.com:443`, that requests of browsers may have.
    pub origins: Vec<String>,
    /// The number of connections at the same time. Further ones take the place of those without an allowed request, or wait.
    pub max_connections: usize,
    /// The time that a client has for the head of a request, at most 10 seconds, and then for the body. A connection without a request
    /// ends after the time for the head.
    pub read_timeout: Duration,
    /// The time that running calls have to end after a shutdown began. Then they are cancelled.
    pub shutdown_grace: Duration,
}

impl HttpOptions {
    /// The path of the endpoint.
    pub const PATH: &str = "/mcp";
    /// The minimum length of a bearer token.
    pub const MIN_TOKEN_BYTES: usize = 16;
    /// The number of sessions of clients of older revisions at the same time. A further one ends the one that has been idle for longest,
    /// and is refused with 503 if none is.
    pub const MAX_SESSIONS: usize = 256;

    /// Creates options without a token. Only this machine's names are allowed as host and origin.
    pub fn new() -> Self {
        Self {
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_connections: 128,
            read_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(10),
        }
    }

    /// Sets the bearer token that each request must have.
    ///
    /// # Errors
    /// Returns an error if the token has fewer than [`MIN_TOKEN_BYTES`](Self::MIN_TOKEN_BYTES).
    pub fn with_token(mut self, token: impl Into<String>) -> Result<Self, HttpError> {
        let token = token.into();
        if token.len() < Self::MIN_TOKEN_BYTES {
            return Err(HttpError::ShortToken {
                length: token.len(),
            });
        }
        self.token = Some(Secret::new(&token));
        Ok(self)
    }

    /// Checks that a server with these options may listen on the address.
    ///
    /// # Errors
    /// Returns [`HttpError::TokenRequired`] if other machines can reach the address and there is no token.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), HttpError> {
        if !address.ip().is_loopback() && self.token.is_none() {
            return Err(HttpError::TokenRequired { address });
        }
        Ok(())
    }

    /// Returns the configuration of `rmcp` for a server at this address.
    pub(super) fn config(
        &self,
        address: SocketAddr,
        max_bytes: usize,
        ended: CancellationToken,
    ) -> StreamableHttpServerConfig {
        let port = address.port();
        // `rmcp` checks no origin as long as none is allowed.
        let own = LOOPBACK
            .into_iter()
            .map(|host| format!("http://{host}:{port}"));
        StreamableHttpServerConfig::default()
            .with_allowed_hosts(host_names(address, &self.hosts))
            .with_allowed_origins(own.chain(self.origins.clone()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(max_bytes)
            // From 2026-07-28 on, an answer without messages before it is one document and not a stream.
            .with_json_response(true)
            .with_cancellation_token(ended)
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The error of a server over HTTP.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Other machines can reach the address, and no token is set.
    #[error(
        "other machines can reach {address}, so a bearer token is required; set one, or listen on 127.0.0.1"
    )]
    TokenRequired {
        /// The address.
        address: SocketAddr,
    },
    /// A token is too short to keep others out.
    #[error(
        "the bearer token has {length} bytes, and at least {} are required",
        HttpOptions::MIN_TOKEN_BYTES
    )]
    ShortToken {
        /// Its length.
        length: usize,
    },
    /// The server failed.
    #[error("the server failed: {0}")]
    Io(#[from] io::Error),
}
