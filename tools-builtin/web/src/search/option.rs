//! [`SearchOption`]: an option of a search.

use std::fmt;

/// An option of a search, which not every service knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchOption {
    /// The language of the results.
    Language,
    /// The filter of adult content.
    SafeSearch,
}

impl fmt::Display for SearchOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Language => "language",
            Self::SafeSearch => "safe search",
        })
    }
}
