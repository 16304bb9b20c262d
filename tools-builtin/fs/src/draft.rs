//! [`Draft`]: a temporary file with the new content of a file.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use tools_workspace::Workspace;

use crate::draft_name::draft_name;
use crate::error::FsError;
use crate::kind::Kind;
use crate::rename::rename_new;
use crate::slot::Slot;

/// The maximum number of names tried.
const ATTEMPTS: usize = 16;

/// A temporary file in the directory of the file that it replaces. Removed on drop unless [committed](Draft::commit).
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    slot: &'a Slot,
    file: File,
    name: String,
    is_committed: bool,
}

impl<'a> Draft<'a> {
    /// Writes the content to a new temporary file and syncs it to disk.
    ///
    /// # Errors
    /// Returns an error if the existing entry is not a writable regular file, or if writing fails.
    pub(crate) fn new(
        workspace: &Workspace,
        slot: &'a Slot,
        content: &[u8],
    ) -> Result<Self, FsError> {
        let is_new = slot.kind.is_none();
        if !is_new {
            replaceable(slot)?;
        }
        remove_abandoned(workspace, &slot.parent);
        let (file, name) =
            create(&slot.parent, !is_new).map_err(FsError::change("write", &slot.path))?;
        let mut draft = Self {
            slot,
            file,
            name,
            is_committed: false,
        };
        let filled = draft.file.write_all(content);
        let filled = filled.and_then(|()| draft.file.sync_all());
        filled.map_err(FsError::change("write", &slot.path))?;
        Ok(draft)
    }

    /// Renames the draft to its final name atomically.
    ///
    /// The new file gets the permissions of the file that it replaces, and its owner if possible. Set-user-ID and set-group-ID bits are
    /// dropped.
    ///
    /// Returns false and changes nothing if the target is no longer as it was found: a file, or missing.
    pub(crate) fn commit(mut self) -> Result<bool, FsError> {
        let Slot {
            path,
            kind,
            parent,
            name,
        } = self.slot;
        if self.slot.current_kind()? != *kind {
            return Ok(false);
        }
        let fault = FsError::change("write", path);
        let renamed = if kind.is_some() {
            let old = replaceable(self.slot)?;
            inherit(&self.file, &old).and_then(|()| parent.rename(&self.name, parent, name))
        } else {
            rename_new(parent, &self.name, parent, name)
        };
        match renamed {
            Ok(()) => self.is_committed = true,
            Err(error) => match error.kind() {
                // Another process created the target, or removed the directory.
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => return Ok(false),
                _ => return Err(fault(error)),
            },
        }
        Ok(true)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_committed {
            // An error here must not hide the one that led here.
            let _ = self.slot.parent.remove_file(&self.name);
        }
    }
}

/// Returns the metadata of the existing file. Returns an error if it must not be replaced.
fn replaceable(slot: &Slot) -> Result<Metadata, FsError> {
    let metadata = slot.parent.symlink_metadata(&slot.name);
    let metadata = metadata.map_err(FsError::io(&slot.path))?;
    match Kind::from(metadata.file_type()) {
        Kind::File if metadata.permissions().readonly() => Err(FsError::ReadOnly {
            path: slot.path.clone(),
        }),
        Kind::File => Ok(metadata),
        kind => Err(FsError::NotWritable {
            path: slot.path.clone(),
            kind,
        }),
    }
}

/// Creates and locks an empty file with an unused name.
fn create(parent: &Dir, private: bool) -> io::Result<(File, String)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if private {
        restrict(&mut options);
    }
    for _ in 0..ATTEMPTS {
        // Random hasher keys are random enough: a collision only costs another attempt.
        let name = draft_name(RandomState::new().build_hasher().finish());
        match parent.open_with(&name, &options) {
            Ok(file) if lock(&file, parent, &name).unwrap_or(false) => return Ok((file, name)),
            Ok(_) => {
                let _ = parent.remove_file(&name);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(target_os = "linux")]
use crate::abandoned::{lock, remove_abandoned};

/// On other systems drafts are not locked, and abandoned ones are not removed.
#[cfg(not(target_os = "linux"))]
fn lock(_: &File, _: &Dir, _: &str) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn remove_abandoned(_: &Workspace, _: &Dir) {}

/// Restricts access to the owner until the draft gets the permissions of the file that it replaces.
fn restrict(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;

    options.mode(0o600);
}

fn inherit(file: &File, old: &Metadata) -> io::Result<()> {
    use cap_std::fs::{MetadataExt, Permissions, PermissionsExt};

    let own = file.metadata()?;
    let is_same = (own.uid(), own.gid()) == (old.uid(), old.gid());
    // If the owner or group cannot be kept, group and other permissions would apply to different users.
    let is_handed_over =
        is_same || std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid())).is_ok();
    let kept = if is_handed_over { 0o777 } else { 0o700 };
    file.set_permissions(Permissions::from_mode(old.permissions().mode() & kept))
}
