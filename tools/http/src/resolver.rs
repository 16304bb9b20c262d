//! [`Resolver`]: looks up the addresses of a host.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use crate::address::AddressFilter;

/// The future of a [`Resolver`]'s answer.
pub type ResolverFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Looks up the addresses of a host name. A port other than 0 replaces that of the URL.
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

/// A resolver that returns only permitted addresses. The client connects to no other ones.
pub(crate) struct FilteredResolver {
    pub(crate) inner: Arc<dyn Resolver>,
    pub(crate) filter: Arc<AddressFilter>,
}

impl reqwest::dns::Resolve for FilteredResolver {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let host = name.as_str().to_owned();
        let (found, filter) = (self.inner.resolve(&host), self.filter.clone());
        Box::pin(async move {
            let permitted = filter.permitted(&host, found.await?)?;
            Ok(Box::new(permitted.into_iter()) as reqwest::dns::Addrs)
        })
    }
}
