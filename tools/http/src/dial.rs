//! Connects to a host for a program, or for another protocol than HTTP.

use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

use crate::address::{PrivateAddress, check_resolved, literal};
use crate::error::HttpError;
use crate::exchange::Exchange;

impl Exchange {
    /// Connects to the host and port of a URL, behind the address filter. A name is looked up once, so that the addresses that were
    /// checked are those that are connected to.
    ///
    /// # Errors
    /// Returns an [`HttpError`] if the address is not public, the name has none, or no connection is made in time.
    pub(crate) async fn dial(&self, url: &Url) -> Result<TcpStream, HttpError> {
        self.filter.check_literal(url)?;
        if self.connections.proxy.is_some() && !self.filter.names(url) {
            let reason = "the proxy of the settings is for requests of tools alone";
            return Err(HttpError::connect(url, reason));
        }
        let limit = self.limits.first_byte;
        let dialled = timeout(limit, async {
            let addresses = self.addresses(url).await?;
            TcpStream::connect(&*addresses)
                .await
                .map_err(|error| HttpError::connect(url, error.to_string()))
        });
        dialled
            .await
            .unwrap_or_else(|_| Err(HttpError::time(url, limit)))
    }

    /// Returns the addresses of the host, all of which may be connected to.
    async fn addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, HttpError> {
        let port = url.port_or_known_default().unwrap_or_default();
        // `dial` has checked it.
        if let Some(address) = literal(url) {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let host = url.host_str().unwrap_or_default();
        let found = self.connections.resolver.resolve(host).await;
        let mut found = found.map_err(|error| HttpError::lookup(url, error.to_string()))?;
        if found.is_empty() {
            return Err(HttpError::lookup(url, "it has no address"));
        }
        if !self.filter.names(url) {
            found = check_resolved(host, found)
                .map_err(|PrivateAddress { host, address }| HttpError::Address { host, address })?;
        }
        for address in found
            .iter_mut()
            .filter(|address| url.port().is_some() || address.port() == 0)
        {
            address.set_port(port);
        }
        Ok(found)
    }
}
