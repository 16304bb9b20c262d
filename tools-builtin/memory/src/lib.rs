#![doc = include_str!("../README.md")]

mod command;
mod digest;
mod error;
mod extension;
mod forget;
mod keys;
mod limits;
mod list;
mod memory;
mod owner;
mod row;
mod save;
mod scope;
mod search;
mod transfer;

use tools::{Catalog, RegisterError};

pub use digest::MAX_DIGEST_BYTES;
pub use error::MemoryError;
pub use keys::MemoryKeys;
pub use limits::{MAX_ENTRIES, MAX_TEXT_BYTES};
pub use memory::Memory;
pub use owner::{Counts, Filter};
pub use row::MemoryEntry;
pub use transfer::{ImportError, Imported};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[
        &forget::FORGET_TOOL,
        &list::LIST_TOOL,
        &save::SAVE_TOOL,
        &search::SEARCH_TOOL,
    ])
}
