//! [`Draft`]: the new content of a file, before it takes the place of the old one.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};

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
    /// hands its permissions on.
    pub(crate) fn new(slot: &'a Slot, content: &[u8]) -> Result<Self, FsError> {
        let permissions = match slot.kind {
            None => None,
            Some(_) => Some(permissions(slot)?),
        };
        let fault = || FsError::change("write", &slot.path);
        let (file, name) = create(&slot.parent, permissions.is_some()).map_err(fault())?;
        let draft = Self { slot, name, is_placed: false };
        fill(file, permissions, content).map_err(fault())?;
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

/// The permissions of what is there, if it may be replaced.
fn permissions(slot: &Slot) -> Result<Permissions, FsError> {
    let metadata = slot.parent.symlink_metadata(&slot.name).map_err(FsError::io(&slot.path))?;
    match Kind::from(metadata.file_type()) {
        Kind::File if metadata.permissions().readonly() => Err(FsError::ReadOnly { path: slot.path.clone() }),
        Kind::File => Ok(metadata.permissions()),
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

fn fill(mut file: File, permissions: Option<Permissions>, content: &[u8]) -> io::Result<()> {
    // Before the content is there, so that nobody sees it who could not see the old one.
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
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
