#![doc = include_str!("../README.md")]

mod document;
mod excerpt;
mod extension;
mod feed;
mod fetch;
mod html;
mod json;
mod markdown;
mod media;
pub mod search;
mod xml;

use tools::{Catalog, RegisterError};

pub use document::{Document, DocumentError, Format, Source};
pub use extension::SearchKeys;

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&fetch::FETCH_TOOL, &search::SEARCH_TOOL])
}
