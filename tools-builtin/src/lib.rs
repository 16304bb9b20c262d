#![doc = include_str!("../README.md")]

#[cfg(feature = "fs")]
pub extern crate tools_fs as fs;
#[cfg(feature = "time")]
pub extern crate tools_time as time;

use tools::{Catalog, RegisterError};

/// Adds the tools of every feature that is on to a catalog, for hosts that do not rely on linking.
///
/// # Errors
/// [`RegisterError`] when a name is taken. The crates before the one that has it, in the order of their names, are in the
/// catalog then.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    #[cfg(feature = "fs")]
    fs::register(catalog)?;
    #[cfg(feature = "time")]
    time::register(catalog)?;
    let _ = catalog;
    Ok(())
}
