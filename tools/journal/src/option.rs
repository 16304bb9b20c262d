//! [`JournalOptions`]: how a journal is kept.

/// How large a result may be that is kept whole, in bytes of JSON: 1 MiB.
pub const DEFAULT_MAX_RESULT_BYTES: usize = 1024 * 1024;

/// How a journal is kept.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    pub(crate) durability: Durability,
    pub(crate) arguments: bool,
    pub(crate) max_result_bytes: usize,
}

/// What a record survives once it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Also a loss of power: each commit waits for the disk (SQLite's `synchronous=FULL`). The default, since a call that may be
    /// run only once must not be forgotten.
    #[default]
    Power,
    /// The end of the process, however it comes, but not of the machine (`synchronous=NORMAL`): after a loss of power the last
    /// records may be missing, as if they had never been written. Faster: the example `rate` of this crate measures by how much.
    Process,
}

impl JournalOptions {
    /// Records survive a loss of power; arguments are kept as digests alone; results up to 1 MiB are kept whole.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a record survives once it is acknowledged.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Whether the arguments themselves are kept as well, and with them the texts of refusals, which quote them. What their schemas
    /// call secret is masked; what else they hold may be confidential.
    #[must_use]
    pub fn with_arguments(mut self, arguments: bool) -> Self {
        self.arguments = arguments;
        self
    }

    /// How large a result may be that is kept whole, in bytes of JSON. Of a larger one the digest is kept, and a note that says so is
    /// what a resumed session is given in its place.
    #[must_use]
    pub fn with_max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = bytes;
        self
    }
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), arguments: false, max_result_bytes: DEFAULT_MAX_RESULT_BYTES }
    }
}
