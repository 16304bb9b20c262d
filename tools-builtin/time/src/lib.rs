#![doc = include_str!("../README.md")]

mod clock;
mod now;
mod zone;

use tools::{Catalog, RegisterError};

pub use clock::Clock;

/// Adds the tools of this crate to a catalog, for hosts that do not rely on linking.
///
/// # Errors
/// [`RegisterError`] when a name is taken; the catalog is then as it was.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&now::NOW_TOOL])
}
