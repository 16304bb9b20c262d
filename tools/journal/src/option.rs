//! [`JournalOptions`]: durability, stored arguments and the size limit of results.

use tools_store::Durability;

/// The default limit of a stored result: 1 MiB of JSON.
const DEFAULT_MAX_RESULT_BYTES: usize = 1024 * 1024;

/// Options for [`SqliteJournal::open`](crate::SqliteJournal::open).
#[derive(Clone, Debug)]
pub struct JournalOptions {
    pub(crate) durability: Durability,
    pub(crate) arguments: bool,
    pub(crate) max_result_bytes: usize,
}

impl JournalOptions {
    /// Creates the default options: [`Durability::Power`], arguments stored as digests only, and results of up to 1 MiB stored
    /// completely.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the failures that an acknowledged record survives. By default a loss of power is one, because a call that may run only
    /// once must not be forgotten. The example `rate` measures how much faster [`Durability::Process`] is.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets whether to store arguments, and the messages of refusals, which may quote arguments. Values that a schema marks as
    /// secret are masked; other values may still be confidential.
    #[must_use]
    pub fn with_arguments(mut self, arguments: bool) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets the size limit of a stored result, in bytes of JSON. Of a larger result only the digest is stored; a resumed session
    /// is given a note instead.
    #[must_use]
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            arguments: false,
            max_result_bytes: DEFAULT_MAX_RESULT_BYTES,
        }
    }
}
