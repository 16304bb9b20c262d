//! [`RegisterProviderError`]: why a provider is not taken in.

use tools::Source;

use super::error::joined;

/// Why a provider is not taken into a registry. A refused registration changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterProviderError {
    /// The name cannot be written everywhere that providers are named.
    #[error("{name:?} is no name for a provider; use letters, digits, `-`, `_` and `.`")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The name is taken.
    #[error(
        "the provider {name} exists: it was declared by {} and is declared again by {refused}; \
         register the new one under another name, or put it in the old one's place with replace",
        joined(existing)
    )]
    Exists {
        /// The name.
        name: String,
        /// Where the provider that holds the name was declared; several places where they conflict.
        existing: Vec<Source>,
        /// Where the refused one was declared.
        refused: Box<Source>,
    },
}
