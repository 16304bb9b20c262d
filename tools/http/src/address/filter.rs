//! [`AddressFilter`]: refuses addresses that are not public.

use std::net::{IpAddr, SocketAddr};

use url::Url;

use super::is_public;
use super::private_host::{PrivateHost, literal};
use crate::error::HttpError;

/// Refuses addresses that are not public, except those of hosts that the options name.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressFilter {
    private_hosts: Vec<PrivateHost>,
}

/// A name that resolves to an address which is not public.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{host} has an address that is not public")]
pub(crate) struct PrivateAddress {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
}

impl AddressFilter {
    /// Creates a filter from the hosts whose addresses may be private.
    ///
    /// # Errors
    /// Returns the fault of an entry and its repair.
    pub(crate) fn new(private_hosts: &[String]) -> Result<Self, String> {
        let hosts = private_hosts.iter().map(|host| PrivateHost::parse(host));
        let private_hosts = hosts.collect::<Result<_, _>>()?;
        Ok(Self { private_hosts })
    }

    /// Returns true if the options name the host of this URL.
    pub(crate) fn names(&self, url: &Url) -> bool {
        self.private_hosts.iter().any(|host| host.names(url))
    }

    /// Checks a host that is an address. The resolver is not asked about it.
    pub(crate) fn check_literal(&self, url: &Url) -> Result<(), HttpError> {
        match literal(url) {
            Some(address) if !is_public(address) && !self.names(url) => Err(HttpError::Address {
                host: url.host_str().unwrap_or_default().to_owned(),
                address,
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the addresses of a name if all of them are public.
///
/// # Errors
/// Returns the first address that is not public.
pub(crate) fn check_resolved(
    host: &str,
    found: Vec<SocketAddr>,
) -> Result<Vec<SocketAddr>, PrivateAddress> {
    // One private address is enough to refuse the name, because the client may dial any of them.
    match found.iter().find(|address| !is_public(address.ip())) {
        Some(address) => Err(PrivateAddress {
            host: host.to_owned(),
            address: address.ip(),
        }),
        None => Ok(found),
    }
}
