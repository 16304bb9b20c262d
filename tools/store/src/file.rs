//! The file of a store and its folder, which belong to the user alone.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::StoreError;

/// Creates the file with mode 600 if it is missing. SQLite would create it readable by all, and it copies the mode to the files
/// that it puts beside it.
pub(crate) fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Creates a missing file for the user alone, with missing folders. Returns its path without links.
///
/// An existing file is one that no other user could have planted: a regular file of this user, in a folder that no other user may
/// write, and not a link. Permissions of others are removed from it.
pub(crate) fn create_private(kind: &'static str, path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source| StoreError::Create { kind, path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(failed(ErrorKind::IsADirectory.into()));
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(failed)?;
    // Links above the file are of the user's choice; the file itself must not be one.
    let folder = folder.canonicalize().map_err(failed)?;
    #[cfg(unix)]
    check_folder(kind, &folder)?;
    let file = folder.join(name);
    create(&file).map_err(failed)?;
    #[cfg(unix)]
    check_file(kind, &file)?;
    Ok(file)
}

/// The user who may change every file.
#[cfg(unix)]
const ROOT: u32 = 0;

#[cfg(unix)]
fn check_folder(kind: &'static str, folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt as _;

    let found = folder.metadata();
    let found = found.map_err(|source| StoreError::Create { kind, path: folder.to_owned(), source })?;
    if ![rustix::process::geteuid().as_raw(), ROOT].contains(&found.uid()) {
        let reason = "its folder belongs to another user; choose another file";
        return Err(StoreError::Exposed { kind, path: folder.to_owned(), reason });
    }
    if found.mode() & 0o022 != 0 {
        let reason = "other users may write its folder; remove their permission with `chmod go-w`";
        return Err(StoreError::Exposed { kind, path: folder.to_owned(), reason });
    }
    Ok(())
}

#[cfg(unix)]
fn check_file(kind: &'static str, file: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

    let exposed = |reason| StoreError::Exposed { kind, path: file.to_owned(), reason };
    let failed = |source| StoreError::Create { kind, path: file.to_owned(), source };
    let found = file.symlink_metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(exposed("it is a link or no regular file; move it away"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(exposed("it belongs to another user; choose another file"));
    }
    if found.mode() & 0o077 != 0 {
        // Through the open file: a link that took its place meanwhile is not followed.
        let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let open = OpenOptions::new().write(true).custom_flags(flags).open(file).map_err(failed)?;
        open.set_permissions(std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    }
    Ok(())
}
