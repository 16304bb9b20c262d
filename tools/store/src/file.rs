//! The file of a store and its folder, which belong to the user alone.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::private;

/// Creates the file with mode 600 if it is missing. SQLite would create it readable by all, and it copies the mode to the files
/// that it puts beside it.
pub(crate) fn create(kind: &'static str, path: &Path) -> Result<(), StoreError> {
    match private::create_file(path) {
        // Another process may have created it meanwhile: many open a new file at once.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(fail(kind, path)(error)),
        _ => Ok(()),
    }
}

/// Returns the function that makes the error of a file or folder that cannot be created.
fn fail(kind: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::Create {
        kind,
        path: path.to_owned(),
        source,
    }
}

/// Creates a missing file for the user alone, with missing folders. Returns its path without links.
///
/// An existing file is one that no other user could have planted: a regular file of this user, in a folder that no other user may
/// write, and not a link. Permissions of others are removed from it.
pub(crate) fn create_private(kind: &'static str, path: &Path) -> Result<PathBuf, StoreError> {
    let failed = fail(kind, path);
    let absolute = std::path::absolute(path).map_err(&failed)?;
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Err(failed(ErrorKind::IsADirectory.into()));
    };
    private::create_folder(folder).map_err(&failed)?;
    // Links above the file are of the user's choice; the file itself must not be one.
    let folder = folder.canonicalize().map_err(failed)?;
    let file = folder.join(name);
    check_folder(kind, &folder)?;
    create(kind, &file)?;
    check_file(kind, &file)?;
    Ok(file)
}

/// The user who may change every file.
const ROOT: u32 = 0;

fn check_folder(kind: &'static str, folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt as _;

    let found = folder.metadata().map_err(fail(kind, folder))?;
    if !private::is_own(&found) && found.uid() != ROOT {
        let reason = "its folder belongs to another user; choose another file";
        return Err(exposed(kind, folder, reason));
    }
    // Whoever may write the folder can put another file in the place of this one, whatever its mode.
    if found.mode() & 0o022 != 0 {
        let reason = "other users may write its folder; remove their permission with `chmod go-w`";
        return Err(exposed(kind, folder, reason));
    }
    Ok(())
}

fn exposed(kind: &'static str, path: &Path, reason: &'static str) -> StoreError {
    StoreError::Exposed {
        kind,
        path: path.to_owned(),
        reason,
    }
}

fn check_file(kind: &'static str, file: &Path) -> Result<(), StoreError> {
    let found = file.symlink_metadata().map_err(fail(kind, file))?;
    if !found.is_file() {
        let reason = "it is a link or no regular file; move it away";
        return Err(exposed(kind, file, reason));
    }
    if !private::is_own(&found) {
        let reason = "it belongs to another user; choose another file";
        return Err(exposed(kind, file, reason));
    }
    private::tighten(file).map_err(fail(kind, file))
}
