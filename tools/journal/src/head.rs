//! [`Head`]: the end of a journal's hash chain, to be stored elsewhere.

use std::fmt;
use std::str::FromStr;

use tools::Digest;

/// The number of rows of a journal and the hash of the last one, written as `COUNT:HASH`.
///
/// Stored outside of the journal, it shows later that no row up to this one was cut off or rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// The number of rows.
    pub count: u64,
    /// The hash of the last row, or the hash that the first row follows if there are no rows.
    pub hash: Digest,
}

/// An error from parsing a [`Head`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the head of a journal: {text:?}; pass COUNT:HASH as printed when the journal was verified"
)]
pub struct InvalidHead {
    /// The given text, cut after 100 characters.
    pub text: String,
}

impl Head {
    pub(crate) fn new(count: u64, hash: Digest) -> Self {
        Self { count, hash }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, self.hash)
    }
}

impl FromStr for Head {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        let parsed = || {
            let (count, hash) = text.split_once(':')?;
            Some(Self {
                count: count.parse().ok()?,
                hash: hash.parse().ok()?,
            })
        };
        parsed().ok_or_else(|| InvalidHead {
            text: text.chars().take(100).collect(),
        })
    }
}
