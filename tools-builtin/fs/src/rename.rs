//! Renaming that replaces nothing.

use std::io;

use cap_std::fs::Dir;

/// Renames an entry, and fails with [`io::ErrorKind::AlreadyExists`] where there is one of the new name. Both names are
/// single parts of a path.
#[cfg(target_os = "linux")]
pub(crate) fn rename_new(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;

    // A single part of a path that is no link to the kernel here, for a rename follows none: it cannot lead out.
    match renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
        // Some file systems do not know the flag.
        Err(Errno::INVAL | Errno::NOSYS) => rename_checked(from, name, to, new_name),
        renamed => Ok(renamed?),
    }
}

/// Renames an entry, and fails with [`io::ErrorKind::AlreadyExists`] where there is one of the new name. Both names are
/// single parts of a path.
#[cfg(not(target_os = "linux"))]
pub(crate) fn rename_new(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    rename_checked(from, name, to, new_name)
}

/// The best that can be done where the system does not do it: another process could come in between.
fn rename_checked(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    match to.symlink_metadata(new_name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => from.rename(name, to, new_name),
        Err(error) => Err(error),
    }
}
