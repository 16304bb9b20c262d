//! [`Head`]: the end of a journal, to be kept elsewhere.

use std::fmt;
use std::str::FromStr;

use tools::Digest;

/// How many rows a journal has and the hash of the last one; as text `COUNT:HASH`. Kept elsewhere, it shows later that
/// nothing up to there was cut off or written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// How many rows there are.
    pub count: u64,
    /// The hash of the last one; of a journal without rows, that which the first row follows.
    pub hash: Digest,
}

/// A text that is not a [`Head`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the head of a journal: {text:?}; write COUNT:HASH, as verifying a journal prints it")]
pub struct InvalidHead {
    /// The text as given, cut after 100 characters.
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
            Some(Self { count: count.parse().ok()?, hash: hash.parse().ok()? })
        };
        parsed().ok_or_else(|| InvalidHead { text: text.chars().take(100).collect() })
    }
}
