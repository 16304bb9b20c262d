//! The limits of memories.

/// The maximum length of a memory's text, in bytes.
pub const MAX_TEXT_BYTES: usize = 4096;

/// The maximum number of memories of a scope, unless the host sets another one.
pub const MAX_ENTRIES: usize = 1000;

/// The limits of a store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum number of memories of a scope.
    pub(crate) entries: usize,
    /// The maximum length of the texts of a principal in all scopes together, in bytes.
    pub(crate) bytes: usize,
}

impl Limits {
    /// Returns the limits for so many memories of a scope.
    pub(crate) const fn new(entries: usize) -> Self {
        Self {
            entries,
            bytes: if entries > MAX_ENTRIES {
                entries.saturating_mul(1024)
            } else {
                1024 * 1024
            },
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new(MAX_ENTRIES)
    }
}

/// The maximum length of a file of memories that is imported, in bytes. It is kept in memory until all of it is read, so that nothing waits
/// for a slow file.
pub(crate) const MAX_IMPORT_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of memories of one import, which holds the store while it adds them.
pub(crate) const MAX_IMPORTED: usize = 10_000;

/// The maximum number of tags of a memory.
pub(crate) const MAX_TAGS: usize = 8;

/// The maximum length of a tag, in bytes.
pub(crate) const MAX_TAG_LENGTH: usize = 32;
