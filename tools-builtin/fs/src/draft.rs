//! [`Draft`]: the new content of a file, before it takes the place of the old one.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::Workspace;
use crate::draft_name::draft_name;
use crate::error::FsError;
use crate::kind::Kind;
use crate::rename::rename_new;
use crate::slot::Slot;

/// How often another name is tried when one is taken.
const ATTEMPTS: usize = 16;

/// A file with a name of its own beside the one that it is for. It goes away with the value, unless it was put in place.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    slot: &'a Slot,
    file: File,
    name: String,
    is_placed: bool,
}

impl<'a> Draft<'a> {
    /// Writes the content down, on the disk and not only in its cache. What it is to replace has to be a regular file.
    pub(crate) fn new(workspace: &Workspace, slot: &'a Slot, content: &[u8]) -> Result<Self, FsError> {
        let is_new = slot.kind.is_none();
        if !is_new {
            replaceable(slot)?;
        }
        remove_abandoned(workspace, &slot.parent);
        let (file, name) = create(&slot.parent, !is_new).map_err(FsError::change("write", &slot.path))?;
        let mut draft = Self { slot, file, name, is_placed: false };
        let filled = draft.file.write_all(content).and_then(|()| draft.file.sync_all());
        filled.map_err(FsError::change("write", &slot.path))?;
        Ok(draft)
    }

    /// Puts the file in its place, in one step: whoever looks sees the old one or the new one, whole. What is replaced hands
    /// its owner and its permissions on; not what lets others run it in its owner's name, which was given to the old content.
    ///
    /// Gives false, and has done nothing, when the place is no longer what it was found to be: a file, or free.
    pub(crate) fn put(mut self) -> Result<bool, FsError> {
        let Slot { path, kind, parent, name } = self.slot;
        if self.slot.look()? != *kind {
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
            Ok(()) => self.is_placed = true,
            // Somebody came first, or removed the directory with all that was in it.
            Err(error) if matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => {
                return Ok(false);
            }
            Err(error) => return Err(fault(error)),
        }
        Ok(true)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_placed {
            // What cannot be removed now is a file too many, and no reason to hide the error that led here.
            let _ = self.slot.parent.remove_file(&self.name);
        }
    }
}

/// The facts of what is there, if it may be replaced.
fn replaceable(slot: &Slot) -> Result<Metadata, FsError> {
    let metadata = slot.parent.symlink_metadata(&slot.name).map_err(FsError::io(&slot.path))?;
    match Kind::from(metadata.file_type()) {
        Kind::File if metadata.permissions().readonly() => Err(FsError::ReadOnly { path: slot.path.clone() }),
        Kind::File => Ok(metadata),
        kind => Err(FsError::NotWritable { path: slot.path.clone(), kind }),
    }
}

/// Makes an empty file with a name that is not taken, and holds it.
fn create(parent: &Dir, private: bool) -> io::Result<(File, String)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if private {
        restrict(&mut options);
    }
    for _ in 0..ATTEMPTS {
        // The keys of the hasher are random; nothing but a collision depends on it.
        let name = draft_name(RandomState::new().build_hasher().finish());
        match parent.open_with(&name, &options) {
            Ok(file) if hold(&file, parent, &name).unwrap_or(false) => return Ok((file, name)),
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
use crate::abandoned::{hold, remove_abandoned};

/// Elsewhere nothing shows that a draft is abandoned, so that none is taken for it.
#[cfg(not(target_os = "linux"))]
fn hold(_: &File, _: &Dir, _: &str) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(target_os = "linux"))]
fn remove_abandoned(_: &Workspace, _: &Dir) {}

/// For its owner alone, until it gets the permissions of the file that it replaces.
#[cfg(unix)]
fn restrict(options: &mut OpenOptions) {
    use cap_std::fs::OpenOptionsExt;

    options.mode(0o600);
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions) {}

#[cfg(unix)]
fn inherit(file: &File, old: &Metadata) -> io::Result<()> {
    use cap_std::fs::{MetadataExt, Permissions, PermissionsExt};

    let own = file.metadata()?;
    let is_same = (own.uid(), own.gid()) == (old.uid(), old.gid());
    // Where it cannot be handed to the old one's owner and group, what those were allowed is not what others now would be.
    let is_handed_over = is_same || std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid())).is_ok();
    let kept = if is_handed_over { 0o777 } else { 0o700 };
    file.set_permissions(Permissions::from_mode(old.permissions().mode() & kept))
}

#[cfg(not(unix))]
fn inherit(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}
