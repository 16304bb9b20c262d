//! Renaming without overwriting.

use std::io;

use cap_std::fs::Dir;

/// Renames an entry. Both names must be single path components.
///
/// # Errors
/// Returns [`io::ErrorKind::AlreadyExists`] if the new name exists.
#[cfg(target_os = "linux")]
pub(crate) fn rename_new(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    use rustix::io::Errno;

    // Single components cannot leave the directory: a rename follows no links.
    match renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE) {
        // Some file systems do not support the flag.
        Err(Errno::INVAL | Errno::NOSYS) => rename_checked(from, name, to, new_name),
        renamed => Ok(renamed?),
    }
}

/// Renames an entry. Both names must be single path components.
///
/// # Errors
/// Returns [`io::ErrorKind::AlreadyExists`] if the new name exists.
#[cfg(not(target_os = "linux"))]
pub(crate) fn rename_new(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    rename_checked(from, name, to, new_name)
}

/// Checks for the new name before the rename. Not atomic: another process can create the name in between.
fn rename_checked(from: &Dir, name: &str, to: &Dir, new_name: &str) -> io::Result<()> {
    match to.symlink_metadata(new_name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => from.rename(name, to, new_name),
        Err(error) => Err(error),
    }
}
