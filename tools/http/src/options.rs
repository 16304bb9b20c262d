//! [`HttpOptions`]: the options of a client.

use std::sync::Arc;

use crate::limits::HttpLimits;
use crate::resolver::Resolver;
use crate::secret::BoundSecret;

/// The options of a client. They are for the user to decide: never take them from a project or a model.
#[derive(Clone, Default)]
pub struct HttpOptions {
    /// Hosts whose addresses may be private.
    ///
    /// - A name, such as `nas.home`, permits each address that the name resolves to.
    /// - An address, such as `192.168.0.5` or `[fd00::5]`, or a block, such as `10.0.0.0/8`, permits URLs with this address as host. A
    ///   name that resolves to it stays refused: the grant is for names, and anyone can point a name at an address.
    /// - With a port, as in `localhost:8080`, only this port is permitted.
    pub private_hosts: Vec<String>,
    /// Secrets for requests to their origins.
    pub secrets: Vec<BoundSecret>,
    /// The URL of a proxy, `http` or `https`, with credentials if it requires them. Without it, none is used; the environment has no
    /// influence.
    ///
    /// The proxy looks up names, so that only it can refuse those with private addresses. URLs with a private address as host are still
    /// refused, and [`private_hosts`](Self::private_hosts) are connected to without the proxy.
    pub proxy: Option<String>,
    /// Further root certificates, in PEM.
    pub root_certificates: Vec<Vec<u8>>,
    /// The limits.
    pub limits: HttpLimits,
    /// The resolver of host names, or `None` for that of the system.
    pub resolver: Option<Arc<dyn Resolver>>,
}

tools::debug_fields!(self: HttpOptions { private_hosts, secrets, limits });
