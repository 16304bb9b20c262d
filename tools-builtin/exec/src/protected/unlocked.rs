//! Folders that their owner cannot read: opened for good by a look, and for the time of a move by [`Unlocked`].

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use host::open_folder::OpenFolder;
use rustix::process::geteuid;
use tools::ToolError;

use crate::report::show_path;

/// Returns true if the owner of a folder cannot list it, or not enter it.
pub(super) fn is_closed(metadata: &Metadata) -> bool {
    metadata.mode() & 0o500 != 0o500
}

/// Gives the owner the right to list, enter and change a folder, and does not take it back: a program that closed the folder could open it
/// in the next session, which neither looks at what is protected there nor puts a wall around it. A folder of another user stays as it is.
pub(super) fn open_to_owner(folder: &OpenFolder) {
    let closed = folder.metadata().ok().filter(is_closed);
    if let Some(metadata) = closed {
        // What it cannot open, the look cannot list, and says so.
        let _ = folder.set_mode(metadata.mode() & 0o7777 | 0o700);
    }
}

/// Refuses a look that permissions hinder at a path, which is shown below the root.
///
/// # Errors
/// Returns an error if a program of this user could give itself the permission. Nobody here enters a folder of another user.
pub(super) fn check_missed(
    folder: &OpenFolder,
    error: &io::Error,
    path: &Path,
    root: &Path,
) -> Result<(), ToolError> {
    let is_own = || {
        let metadata = folder.metadata();
        metadata.is_ok_and(|metadata| metadata.uid() == geteuid().as_raw())
    };
    if error.kind() == io::ErrorKind::PermissionDenied && is_own() {
        return Err(missed(error, path, root));
    }
    Ok(())
}

/// Returns the error of a look that cannot go on at a path.
pub(super) fn missed(error: &io::Error, path: &Path, root: &Path) -> ToolError {
    let path = show_path(path, root);
    ToolError::execution_failed(format!(
        "cannot look at {path} for files that run by themselves: {error}"
    ))
}

/// A folder with permissions for its owner, which loses them again with a drop.
#[derive(Debug)]
pub(crate) struct Unlocked {
    folder: OpenFolder,
    mode: u32,
}

impl Unlocked {
    /// Gives the owner the right to list and change a folder of an open one. A program can take it away, and hide files from a look thereby.
    /// Returns `None` if the owner has it, or is another user.
    pub(crate) fn at(above: impl AsFd, name: &OsStr) -> Option<Self> {
        Self::open(OpenFolder::open_at(above, name).ok()?)
    }

    /// Does so with an open folder.
    pub(crate) fn open(folder: impl Into<OpenFolder>) -> Option<Self> {
        let folder = folder.into();
        let mode = folder.metadata().ok()?.mode() & 0o7777;
        if mode & 0o700 == 0o700 {
            return None;
        }
        folder.set_mode(mode | 0o700).ok()?;
        Some(Self { folder, mode })
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        // A folder that is gone by now needs no permissions.
        let _ = self.folder.set_mode(self.mode);
    }
}
