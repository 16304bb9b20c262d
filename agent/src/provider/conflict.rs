//! [`ProviderConflict`]: two linked crates that claim one name.

use std::fmt;

use serde::Serialize;
use tools::Source;

use super::error::joined;

/// A name that several linked crates claim. None of them wins until one is unlinked or renamed, or
/// [`replace`](super::Providers::replace) settles the matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProviderConflict {
    /// The name.
    pub name: String,
    /// All places that declare it, sorted.
    pub sources: Vec<Source>,
}

impl fmt::Display for ProviderConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the provider {} is declared by {}", self.name, joined(&self.sources))
    }
}
