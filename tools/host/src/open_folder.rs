//! [`OpenFolder`]: a folder that is reached through its handle, whatever a program puts in its place.
//!
//! ```text
//! right: folder.open_inner(name)?.read_dir()?
//! wrong: std::fs::read_dir(path.join(name))?
//! ```
//!
//! A program that still runs can replace a folder on the path by a link at any time: the wrong one then reads, and later moves, files of
//! other folders of the user.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions, ReadDir};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// An open folder, to reach what lies in it.
#[derive(Debug)]
pub struct OpenFolder(OwnedFd);

impl OpenFolder {
    /// Opens a folder by its absolute path.
    ///
    /// # Errors
    /// Returns an error if a part of the path is no folder, or a link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let below = path.strip_prefix("/").map_err(io::Error::other)?;
        let top = Self(openat(CWD, "/", FLAGS, Mode::empty())?);
        top.open_below(below)
    }

    /// Opens a folder below this one.
    ///
    /// # Errors
    /// Returns an error if a part of the path is no folder, a link, or `..`.
    pub fn open_below(&self, path: &Path) -> io::Result<Self> {
        let mut folder = Self(self.0.try_clone()?);
        for name in path {
            if name == ".." {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            folder = folder.open_inner(name)?;
        }
        Ok(folder)
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Returns an error if the entry is no folder, or a link.
    pub fn open_inner(&self, name: &OsStr) -> io::Result<Self> {
        Self::open_at(&self.0, name)
    }

    /// Opens a folder in another open one.
    ///
    /// # Errors
    /// Returns an error if the entry is no folder, or a link.
    pub fn open_at(above: impl AsFd, name: &OsStr) -> io::Result<Self> {
        Ok(Self(openat(above, name, FLAGS, Mode::empty())?))
    }

    /// Returns the metadata of the folder.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn metadata(&self) -> io::Result<Metadata> {
        fs::metadata(self.path())
    }

    /// Sets the permissions of the folder.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        fs::set_permissions(self.path(), Permissions::from_mode(mode))
    }

    /// Returns the path at which the folder is now.
    ///
    /// # Errors
    /// Returns the error of the system.
    pub fn locate(&self) -> io::Result<PathBuf> {
        fs::read_link(self.path())
    }

    /// Lists the entries. Their paths lead through the handle, as [`entry`](Self::entry) says.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn read_dir(&self) -> io::Result<ReadDir> {
        fs::read_dir(self.path())
    }

    /// Returns a path to an entry that leads to this folder wherever it is moved, while it is open. The entry itself may be a link.
    pub fn entry(&self, name: &OsStr) -> PathBuf {
        self.path().join(name)
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

impl From<OwnedFd> for OpenFolder {
    fn from(folder: OwnedFd) -> Self {
        Self(folder)
    }
}

impl From<OpenFolder> for OwnedFd {
    fn from(folder: OpenFolder) -> Self {
        folder.0
    }
}

impl AsFd for OpenFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

const FLAGS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a file for reading. Never waits for the other end of a pipe.
///
/// # Errors
/// Returns an error if it is a link or no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_on_the_way_is_refused_and_an_open_folder_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/inner")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        fs::write(root.join("other/secret"), "").unwrap();
        symlink("real", root.join("link")).unwrap();
        let opened = OpenFolder::open(&root).unwrap();
        for path in ["link", "link/inner", "real/../real", "missing"] {
            assert!(opened.open_below(Path::new(path)).is_err(), "{path}");
            assert!(OpenFolder::open(&root.join(path)).is_err(), "{path}");
        }
        assert!(OpenFolder::open(Path::new("real")).is_err());
        let inner = opened.open_below(Path::new("real/inner")).unwrap();
        fs::rename(root.join("real"), root.join("moved")).unwrap();
        symlink("other", root.join("real")).unwrap();
        assert_eq!(inner.read_dir().unwrap().count(), 0);
        fs::write(root.join("moved/inner/mine"), "").unwrap();
        assert!(inner.entry(OsStr::new("mine")).exists());
        assert!(open_regular(&root.join("moved/inner/mine")).is_ok());
        assert!(open_regular(&root.join("real")).is_err());
        assert!(open_regular(&root.join("moved")).is_err());
    }
}
