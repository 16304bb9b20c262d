#![doc = include_str!("../README.md")]

mod choice;
mod error;
mod folded;
mod forecast;
mod geocoding;
mod get;
mod narrowing;
mod place;
mod quantity;
mod region;
mod request;
mod row;
mod service;
mod visible;
mod weather_code;

use tools::{Catalog, RegisterError};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&get::GET_TOOL])
}
