//! The tools that belong to sessions themselves. To link this crate is to have them; a session has those that it selects and
//! whose services its host offers.

mod output;

use tools::{Catalog, RegisterError};

/// Adds the tools to a catalog by hand: for tests, and where link-time registration does not run.
///
/// # Errors
/// [`RegisterError`] when one of the names is taken.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&output::OUTPUT_TOOL])
}
