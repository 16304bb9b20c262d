//! [`AddressFilter`]: refuses addresses of private networks.

use std::net::{IpAddr, SocketAddr};

use crate::HttpError;

/// Refuses addresses that are not public, except those of hosts that the options name.
#[derive(Debug, Default)]
pub(crate) struct AddressFilter {
    /// Hosts, with or without a port, whose addresses may be private.
    pub(crate) private_hosts: Vec<String>,
}

/// The error for a host without a permitted address.
#[derive(Debug, thiserror::Error)]
#[error("{host} has the address {address}, which is not public")]
pub(crate) struct PrivateAddress {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
}

impl AddressFilter {
    /// Returns the addresses that may be connected to.
    pub(crate) fn permitted(&self, host: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, PrivateAddress> {
        if self.names(host) {
            return Ok(found);
        }
        match found.iter().find(|address| !is_public(address.ip())) {
            Some(address) => Err(PrivateAddress { host: host.to_owned(), address: address.ip() }),
            None => Ok(found),
        }
    }

    /// Checks a host that is an address. The resolver is not asked about it.
    pub(crate) fn check_literal(&self, host: &url::Host<&str>) -> Result<(), HttpError> {
        let address = match host {
            url::Host::Domain(_) => return Ok(()),
            url::Host::Ipv4(address) => IpAddr::V4(*address),
            url::Host::Ipv6(address) => IpAddr::V6(*address),
        };
        if is_public(address) || self.names(&host.to_string()) {
            return Ok(());
        }
        Err(HttpError::Address { host: host.to_string(), address })
    }

    fn names(&self, host: &str) -> bool {
        self.private_hosts.iter().any(|named| named == host)
    }
}

/// Returns true if the address is public. A first approximation.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            !(address.is_private() || address.is_loopback() || address.is_link_local() || address.is_unspecified())
        }
        IpAddr::V6(address) => !(address.is_loopback() || address.is_unspecified()),
    }
}
