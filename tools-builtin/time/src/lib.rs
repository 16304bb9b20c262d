#![doc = include_str!("../README.md")]

mod clock;
mod extension;
mod now;
mod zone;

use tools::{Catalog, RegisterError};

pub use clock::Clock;

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&now::NOW_TOOL])
}
