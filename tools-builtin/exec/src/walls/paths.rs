//! The paths of the walls, checked and reduced to those that take effect.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
use serde::{Deserialize, Serialize};

use super::{Walls, WallsError};

/// Folders that programs get in a version of their own, so grants for them have no effect.
const OWN: [&str; 2] = ["/proc", "/dev"];

/// Checks that all paths are absolute and lead through no symbolic link.
pub(super) fn check(walls: &Walls) -> Result<(), WallsError> {
    let Walls {
        read,
        write,
        protected,
        hidden,
        scratch,
        ..
    } = walls;
    for path in read
        .iter()
        .chain(write)
        .chain(protected)
        .chain(hidden)
        .chain(scratch)
    {
        if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
            return Err(WallsError::NotAbsolute { path: path.clone() });
        }
        if let Ok(real) = path.canonicalize()
            && real != *path
        {
            return Err(WallsError::NotReal {
                path: path.clone(),
                real,
            });
        }
    }
    Ok(())
}

/// Returns true if `path` is one of `trees` or lies below one.
pub(super) fn lies_in<'a>(path: &Path, trees: impl IntoIterator<Item = &'a PathBuf>) -> bool {
    trees.into_iter().any(|tree| path.starts_with(tree))
}

/// A path and the file or folder that was there when the paths were checked.
///
/// A confined program that runs at the same time can put a symbolic link into a folder that is granted to it. Whoever mounts that folder
/// later would follow the link.
#[derive(Serialize, Deserialize)]
pub(super) struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns an error if `path` leads through a symbolic link by now.
    pub(super) fn new(path: PathBuf) -> io::Result<Self> {
        let status = fstat(&open(&path)?)?;
        Ok(Self {
            path,
            device: status.st_dev,
            inode: status.st_ino,
        })
    }

    /// Returns an error if the path leads elsewhere now.
    pub(super) fn verify(&self) -> Result<(), String> {
        match Self::new(self.path.clone()) {
            Ok(now) if (now.device, now.inode) == (self.device, self.inode) => Ok(()),
            _ => Err(format!(
                "{} was moved while the sandbox was built",
                self.path.display()
            )),
        }
    }
}

/// Opens a path without links.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS;
    Ok(openat2(CWD, path, flags, Mode::empty(), resolve)?)
}

/// Returns all paths of the walls that are mounted or opened later, which [`check`] has accepted.
pub(super) fn identities(walls: &Walls) -> io::Result<Vec<Identity>> {
    let grants = Grants::new(walls);
    let pinned = grants
        .find_pinned(walls, list_hidden(walls))
        .filter(|path| path.exists());
    let named = grants
        .read
        .iter()
        .chain(&grants.write)
        .copied()
        .chain(list_protected(walls))
        .cloned();
    named.chain(pinned).map(Identity::new).collect()
}

/// Returns the hidden paths without those that lie in another one, where nothing can be mounted.
pub(super) fn list_hidden(walls: &Walls) -> impl Iterator<Item = &PathBuf> {
    walls.hidden.iter().filter(|path| {
        path.parent()
            .is_none_or(|parent| !lies_in(parent, &walls.hidden))
    })
}

/// Returns false if a path does not exist. Where permissions hide it, a program of this user could give itself the permission.
pub(super) fn may_exist(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// Returns the protected paths that exist, without those that lie in a hidden one.
pub(super) fn list_protected(walls: &Walls) -> impl Iterator<Item = &PathBuf> {
    walls
        .protected
        .iter()
        .filter(|path| may_exist(path) && !lies_in(path, &walls.hidden))
}

/// The grants that take effect.
pub(super) struct Grants<'a> {
    pub(super) read: Vec<&'a PathBuf>,
    pub(super) write: Vec<&'a PathBuf>,
}

impl<'a> Grants<'a> {
    /// Leaves out grants inside hidden paths, writes inside protected paths, and reads inside writable trees.
    pub(super) fn new(walls: &'a Walls) -> Self {
        let (read_only, write): (Vec<_>, Vec<_>) = walls
            .write
            .iter()
            .partition(|path| lies_in(path, &walls.protected));
        let read = walls.read.iter().chain(read_only).collect();
        let mut grants = Self { read, write };
        for paths in [&mut grants.read, &mut grants.write] {
            paths.retain(|path| {
                path.exists()
                    && !lies_in(path, &walls.hidden)
                    && !OWN.iter().any(|own| path.starts_with(own))
            });
        }
        let write = grants.write.iter().copied();
        grants.read.retain(|path| !lies_in(path, write.clone()));
        grants
    }

    /// Returns the folders strictly between a writable tree and a protected path, or one of these hidden ones. Renaming one of them would
    /// move the path away. Folders that are protected stay read-only.
    pub(super) fn find_pinned<'p>(
        &'p self,
        walls: &'p Walls,
        hidden: impl Iterator<Item = &'p PathBuf>,
    ) -> impl Iterator<Item = PathBuf> {
        let parents = list_protected(walls)
            .chain(hidden)
            .flat_map(|path| path.ancestors().skip(1));
        parents
            .filter(move |parent| {
                let mut trees = self.write.iter();
                trees.any(|tree| *parent != *tree && parent.starts_with(tree))
                    && !lies_in(parent, &walls.protected)
            })
            .map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_cannot_be_looked_at_may_exist() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert!(may_exist(folder.path()) && !may_exist(&missing));
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        assert!(may_exist(&circle));
    }
}
