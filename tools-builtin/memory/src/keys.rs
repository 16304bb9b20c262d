//! The keys of memories: the table `[memory]`.

use host::declare_keys;
use host::settings::{Key, ProjectRule, Setting, integer};

use crate::limits::MAX_ENTRIES;

/// The reason why no project sets the limit.
const SIZE: &str = "it decides how many memories of yours are kept";

declare_keys! {
    /// The keys of memories.
    pub struct MemoryKeys;

    /// The maximum number of memories of a project or of the user; all texts have a KiB for each of them, at least 1 MiB
    pub max_entries: Setting<u32> = Key::new("memory.max_entries", integer::<1, _>(), Setting::from_default(MAX_ENTRIES as u32), "100000")
        .with_project(ProjectRule::never(SIZE));
}
