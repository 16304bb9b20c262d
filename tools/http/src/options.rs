//! [`HttpOptions`]: the options of a client.

use std::fmt;
use std::sync::Arc;

use crate::{BoundSecret, HttpLimits, Resolver};

/// The options of a client. They are for the user to decide: never take them from a project or a model.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Hosts whose addresses may be private, such as `localhost`, `192.0.2.1` or `[::1]`.
    pub private_hosts: Vec<String>,
    /// Secrets for requests to their hosts.
    pub secrets: Vec<BoundSecret>,
    /// The URL of a proxy for all requests. Without it, none is used; the environment has no influence.
    pub proxy: Option<String>,
    /// Further root certificates, in PEM.
    pub root_certificates: Vec<Vec<u8>>,
    /// The user agent, or `None` for `toolcrib/VERSION`.
    pub user_agent: Option<String>,
    /// The limits.
    pub limits: HttpLimits,
    /// The resolver of host names, or `None` for that of the system.
    pub resolver: Option<Arc<dyn Resolver>>,
}

impl HttpOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Permits private addresses for a host.
    #[must_use]
    pub fn with_private_host(mut self, host: impl Into<String>) -> Self {
        self.private_hosts.push(host.into());
        self
    }

    /// Adds a secret.
    #[must_use]
    pub fn with_secret(mut self, secret: BoundSecret) -> Self {
        self.secrets.push(secret);
        self
    }

    /// Adds a root certificate in PEM.
    #[must_use]
    pub fn with_root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: HttpLimits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the resolver of host names.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolver>) -> Self {
        Self { resolver: Some(resolver), ..self }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("private_hosts", &self.private_hosts)
            .field("secrets", &self.secrets)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
