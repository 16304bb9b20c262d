#![doc = include_str!("../README.md")]

mod backend;
mod error;
mod extension;
mod format;
mod service;
mod speak;

use tools::linked::{self, LookupError};
use tools::{Catalog, RegisterError};

pub use backend::{SpeechBackend, SpeechFuture, Utterance};
pub use error::SpeechError;
pub use extension::SpeechKeys;
pub use format::SoundFormat;
/// Re-exported for `inventory::submit!` of a [`SpeechBackend`].
pub use inventory;
pub use service::Speech;

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&speak::SPEAK_TOOL])
}

/// Returns the linked speech backend of this name.
///
/// # Errors
/// Returns [`LookupError`] if no linked backend has this name, or several crates claim it.
pub fn get(name: &str) -> Result<&'static SpeechBackend, LookupError> {
    linked::get(name)
}

/// Returns the usable linked speech backends, sorted by name.
pub fn list() -> Vec<&'static SpeechBackend> {
    linked::list()
}
