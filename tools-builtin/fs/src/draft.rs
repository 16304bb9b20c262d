//! [`Draft`]: the new content of a file, before it takes the place of the old one.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

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
    name: String,
    is_placed: bool,
}

impl<'a> Draft<'a> {
    /// Writes the content down, on the disk and not only in its cache. What it is to replace has to be a regular file, and
    /// hands its owner and its permissions on; not what lets others run it in its owner's name, which was given to the old
    /// content.
    pub(crate) fn new(slot: &'a Slot, content: &[u8]) -> Result<Self, FsError> {
        let old = match slot.kind {
            None => None,
            Some(_) => Some(replaceable(slot)?),
        };
        let fault = || FsError::change("write", &slot.path);
        let (file, name) = create(&slot.parent, old.is_some()).map_err(fault())?;
        let draft = Self { slot, name, is_placed: false };
        fill(file, old, content).map_err(fault())?;
        Ok(draft)
    }

    /// Puts the file in its place, in one step: whoever looks sees the old one or the new one, whole.
    pub(crate) fn put(mut self) -> Result<(), FsError> {
        let Slot { path, kind, parent, name } = self.slot;
        let renamed = match kind {
            Some(_) => parent.rename(&self.name, parent, name),
            None => rename_new(parent, &self.name, parent, name),
        };
        match renamed {
            Ok(()) => self.is_placed = true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(FsError::Changed { path: path.clone() });
            }
            Err(error) => return Err(FsError::change("write", path)(error)),
        }
        Ok(())
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

/// Makes an empty file with a name that is not taken.
fn create(parent: &Dir, private: bool) -> io::Result<(File, String)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    if private {
        restrict(&mut options);
    }
    for _ in 0..ATTEMPTS {
        // The keys of the hasher are random; nothing but a collision depends on it.
        let name = format!(".toolcrib-{:016x}.tmp", RandomState::new().build_hasher().finish());
        match parent.open_with(&name, &options) {
            Ok(file) => return Ok((file, name)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn fill(mut file: File, old: Option<Metadata>, content: &[u8]) -> io::Result<()> {
    // Before the content is there, so that nobody sees it who could not see the old one.
    if let Some(old) = old {
        inherit(&file, &old)?;
    }
    file.write_all(content)?;
    file.sync_all()
}

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
