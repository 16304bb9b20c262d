//! [`Found`]: a sensitive file or directory of a look.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::former::Former;

/// A sensitive file or directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(super) is_kept: bool,
    pub(super) is_link: bool,
    /// True if no clause of a grant opens it.
    pub(super) is_setting: bool,
    /// True if a program must not leave it behind: no clause names it, or git runs what it says.
    pub(crate) counts: bool,
    /// True if the walls keep programs from it.
    pub(super) is_safe: bool,
    /// True if no clause names it, so that a removed one is put back.
    #[serde(default)]
    pub(super) is_guarded: bool,
    /// The number of names up to the folder of git in which it lies.
    pub(super) git: Option<usize>,
    /// The length and the time of the last change. `None` for a directory, whose content is looked at or protected.
    pub(super) stamp: Option<(u64, Changed)>,
    /// The number of names of a file.
    #[serde(default)]
    pub(super) names: u64,
    /// The content, if a program can change it.
    pub(crate) former: Option<Former>,
    /// True if another program has made it that still runs.
    #[serde(default)]
    pub(super) is_suspect: bool,
}

/// The time of the last change, in seconds and nanoseconds. A program can set the time of the last write, but not this one.
pub(super) type Changed = (i64, i64);

/// Returns the length and the time of the last change of a file.
pub(super) fn stamp(metadata: &Metadata) -> (u64, Changed) {
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    (metadata.len(), changed)
}

impl Found {
    /// Returns true for a folder that the walls keep.
    pub(crate) fn is_kept_folder(&self) -> bool {
        self.is_safe && self.is_folder()
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.stamp.is_none()
    }

    /// Returns true if a program may have changed the file at this path since.
    pub(crate) fn may_differ(&self, path: &Path) -> bool {
        let now = path.symlink_metadata().map(|now| Some(stamp(&now)));
        !self.is_safe && now.ok() != Some(self.stamp)
    }
}
