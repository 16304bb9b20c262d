#![doc = include_str!("../README.md")]

mod forecast;
mod get;
mod place;
mod request;
mod search;
mod service;

use tools::{Catalog, RegisterError};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&get::GET_TOOL])
}
