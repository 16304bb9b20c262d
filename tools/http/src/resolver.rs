//! [`Resolver`]: looks up the addresses of a host.

use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use crate::address::check_resolved;

/// The future of a [`Resolver`]'s answer.
pub type ResolverFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Looks up the addresses of a host name.
///
/// Ports should be 0. Another port is used for URLs that name none, which helps tests.
pub trait Resolver: Send + Sync {
    /// Looks up a name.
    fn resolve(&self, host: &str) -> ResolverFuture;
}

/// The resolver of the system.
pub(crate) struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str) -> ResolverFuture {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
    }
}

/// A name without an address.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the address of {host} was not found: {reason}")]
pub(crate) struct NoAddress {
    pub(crate) host: String,
    pub(crate) reason: String,
}

/// The names that a connection may be made to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Names whose addresses are all public.
    Public,
    /// Names that the options name, which the caller checked.
    Private,
    /// The proxy.
    Proxy(String),
}

/// A resolver whose answers are checked. The client connects to no other addresses, and does not look them up again.
pub(crate) struct CheckedResolver {
    pub(crate) inner: Arc<dyn Resolver>,
    pub(crate) names: Names,
}

impl reqwest::dns::Resolve for CheckedResolver {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let host = name.as_str().to_owned();
        let found = self.inner.resolve(&host);
        let names = self.names.clone();
        Box::pin(async move {
            let nothing = |reason: String| NoAddress {
                host: host.clone(),
                reason,
            };
            let mut found = match &names {
                Names::Proxy(proxy) if *proxy != host => {
                    Err(nothing("only the proxy is connected to".to_owned()))
                }
                _ => found.await.map_err(|error| nothing(error.to_string())),
            }?;
            if found.is_empty() {
                return Err(nothing("it has none".to_owned()).into());
            }
            if names == Names::Public {
                found = check_resolved(&host, found)?;
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(Box::new(found.into_iter()) as reqwest::dns::Addrs)
        })
    }
}
