//! [`Unlocked`]: a folder that its owner could not read, for the time of a look.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, openat};

/// A folder with permissions for its owner, which loses them again with a drop.
#[derive(Debug)]
pub(crate) struct Unlocked {
    folder: OwnedFd,
    mode: u32,
}

impl Unlocked {
    /// Gives the owner the right to list and change a folder of an open one. A program can take it away, and hide files from a look thereby.
    /// Returns `None` if the owner has it, or is another user.
    pub(crate) fn at(above: impl AsFd, name: &OsStr) -> Option<Self> {
        // A link that takes the place of the folder is not followed.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::open(openat(above, name, flags, Mode::empty()).ok()?)
    }

    /// Does so with an open folder.
    pub(crate) fn open(folder: OwnedFd) -> Option<Self> {
        let mode = fs::metadata(path(&folder)).ok()?.mode() & 0o7777;
        if mode & 0o700 == 0o700 {
            return None;
        }
        fs::set_permissions(path(&folder), fs::Permissions::from_mode(mode | 0o700)).ok()?;
        Some(Self { folder, mode })
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        // A folder that is gone by now needs no permissions.
        let _ = fs::set_permissions(path(&self.folder), fs::Permissions::from_mode(self.mode));
    }
}

/// Returns a path to the open folder that no rename changes.
fn path(folder: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}
