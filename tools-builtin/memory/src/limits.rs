//! The limits of memories.

/// The maximum length of a memory's text, in bytes.
pub const MAX_TEXT_BYTES: usize = 4096;

/// The maximum number of memories of a scope.
pub const MAX_ENTRIES: usize = 1000;

/// The maximum length of the texts of a principal in all scopes together, in bytes.
pub const MAX_TOTAL_BYTES: usize = 1024 * 1024;

/// The maximum length of a file of memories that is imported, in bytes. It is kept in memory until all of it is read, so that nothing waits
/// for a slow file.
pub(crate) const MAX_IMPORT_BYTES: u64 = 16 * 1024 * 1024;

/// The maximum number of memories of one import, which holds the store while it adds them.
pub(crate) const MAX_IMPORTED: usize = 10_000;

/// The maximum number of tags of a memory.
pub(crate) const MAX_TAGS: usize = 8;

/// The maximum length of a tag, in bytes.
pub(crate) const MAX_TAG_LENGTH: usize = 32;
