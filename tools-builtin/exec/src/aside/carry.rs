//! Moves files and folders without following a link that a program left on the way.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path};

use host::open_folder::OpenFolder;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, readlinkat,
    renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::protected::{Former, Unlocked};

/// The room that a copy of an entry takes beside its content.
const ENTRY: u64 = 4096;

/// A name in an open folder.
#[derive(Debug)]
pub(crate) struct Spot {
    pub(super) folder: OwnedFd,
    pub(super) name: OsString,
}

impl Spot {
    /// Opens the folder of a path below the root. No part of the way may be a link.
    ///
    /// # Errors
    /// Returns the error of the system, which for a link is that it is no folder.
    pub(super) fn open(root: &Path, path: &Path, creates: bool) -> io::Result<Self> {
        let below = path
            .strip_prefix(root)
            .map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut folder = OpenFolder::open(root)?;
        let mut names = below.components().map(|part| match part {
            Component::Normal(name) => Ok(name.to_owned()),
            _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
        });
        let mut name = names.next().ok_or(io::ErrorKind::InvalidInput)??;
        for next in names {
            folder = match folder.open_inner(&name) {
                Err(error) if creates && error.kind() == io::ErrorKind::NotFound => {
                    mkdirat(&folder, &*name, Mode::from_raw_mode(0o755))?;
                    folder.open_inner(&name)?
                }
                inner => inner?,
            };
            name = next?;
        }
        let folder = folder.into();
        Ok(Self { folder, name })
    }

    /// Opens the folder of a path outside of the workspace, which no program reaches.
    pub(crate) fn own(path: &Path) -> io::Result<Self> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok(Self {
            folder: open_root(folder)?,
            name: name.to_owned(),
        })
    }

    /// Moves what lies here, by a copy if the other place belongs to another file system. Replaces nothing but a file or a link, and that
    /// only if `replaces`.
    pub(super) fn carry(&self, to: &Self, replaces: bool) -> io::Result<()> {
        match self.rename(to, replaces) {
            Err(Errno::XDEV) => {
                if replaces && to.exists() {
                    to.remove()?;
                }
                self.copy(to, &mut u64::MAX.clone())?;
                self.remove()
            }
            other => Ok(other?),
        }
    }

    /// Moves what lies here within a file system, also out of a folder that a program has locked.
    pub(super) fn rename(&self, to: &Self, replaces: bool) -> Result<(), Errno> {
        let flags = if replaces {
            RenameFlags::empty()
        } else {
            RenameFlags::NOREPLACE
        };
        let rename = |flags| renameat_with(&self.folder, &*self.name, &to.folder, &*to.name, flags);
        match rename(flags) {
            Err(Errno::ACCESS) => {
                let folders = [&self.folder, &to.folder];
                let above = folders.map(|folder| folder.try_clone().ok().and_then(Unlocked::open));
                let moved = Unlocked::at(&self.folder, &self.name);
                let renamed = rename(flags);
                // The innermost first, because the way to it leads through the others.
                drop(moved);
                above.into_iter().rev().for_each(drop);
                renamed
            }
            // Some file systems do not know how to replace nothing.
            Err(Errno::INVAL) if !replaces && !to.exists() => rename(RenameFlags::empty()),
            renamed => renamed,
        }
    }

    /// Copies what lies here. `room` is the number of bytes that it may take. An incomplete copy is removed.
    pub(super) fn copy(&self, to: &Self, room: &mut u64) -> io::Result<()> {
        copy(&self.folder, &self.name, &to.folder, &to.name, room)
            .inspect_err(|_| drop(to.remove()))
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        remove(&self.folder, &self.name)
    }

    pub(super) fn exists(&self) -> bool {
        statat(&self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Creates the former file or link. Fails if there is something.
    pub(super) fn restore(&self, former: &Former) -> io::Result<()> {
        match former {
            Former::Link { target } => symlinkat(target.as_path(), &self.folder, &*self.name)?,
            Former::File { mode, content } => {
                let flags = OFlags::CREATE
                    | OFlags::EXCL
                    | OFlags::WRONLY
                    | OFlags::NOFOLLOW
                    | OFlags::CLOEXEC;
                let mode_of_new = Mode::from_raw_mode(0o600);
                let mut file = File::from(openat(&self.folder, &*self.name, flags, mode_of_new)?);
                let written = file.write_all(content.as_bytes());
                // A part of a file can say the opposite of the whole.
                written
                    .and_then(|()| file.set_permissions(fs::Permissions::from_mode(*mode)))
                    .inspect_err(|_| drop(self.remove()))?;
            }
        }
        Ok(())
    }
}

/// Opens a folder, to reach what lies in it.
fn open_root(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// Copies a file, a link or a folder. Of a pipe, a socket or a device, only the name remains.
fn copy(
    from: impl AsFd,
    name: &OsStr,
    to: impl AsFd,
    as_name: &OsStr,
    room: &mut u64,
) -> io::Result<()> {
    let stat = statat(&from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let length = if is_file {
        u64::try_from(stat.st_size).unwrap_or(u64::MAX)
    } else {
        0
    };
    *room = room
        .checked_sub(length.saturating_add(ENTRY))
        .ok_or(io::ErrorKind::StorageFull)?;
    let create = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => symlinkat(readlinkat(&from, name, Vec::new())?, &to, as_name)?,
        FileType::Directory => {
            mkdirat(&to, as_name, Mode::from_raw_mode(0o700))?;
            let (inner, _unlocked) = open_folder(&from, name)?;
            let (copied, _) = open_folder(&to, as_name)?;
            for entry in entries(&inner)? {
                copy(&inner, &entry, &copied, &entry, room)?;
            }
        }
        FileType::RegularFile => {
            // A program may have put a pipe in its place since, which would let the open wait.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let source = openat(&from, name, flags, Mode::empty())?;
            if FileType::from_raw_mode(fstat(&source)?.st_mode) != FileType::RegularFile {
                return Err(io::ErrorKind::InvalidData.into());
            }
            // The file may grow meanwhile, beyond the room that was counted.
            io::copy(
                &mut File::from(source).take(length),
                &mut File::from(openat(&to, as_name, create, mode)?),
            )?;
        }
        _ => drop(openat(&to, as_name, create, mode)?),
    }
    Ok(())
}

/// Removes a file, a link or a folder. Inner folders are moved to the top of the outer one first, because they can be of any depth.
fn remove(folder: impl AsFd, name: &OsStr) -> io::Result<()> {
    let Some((top, _unlocked)) = unlink_or_open(&folder, name)? else {
        return Ok(());
    };
    let mut numbers = 0_u64..;
    loop {
        let names = entries(&top)?;
        for name in &names {
            let Some((middle, _unlocked)) = unlink_or_open(&top, name)? else {
                continue;
            };
            for inner in entries(&middle)? {
                let Some(_opened) = unlink_or_open(&middle, &inner)? else {
                    continue;
                };
                let mut renamed = numbers.by_ref().map(|number| {
                    let to = number.to_string();
                    renameat_with(&middle, &*inner, &top, to, RenameFlags::NOREPLACE)
                });
                let renamed = renamed.find(|renamed| *renamed != Err(Errno::EXIST));
                renamed.unwrap_or(Err(Errno::EXIST))?;
            }
            unlinkat(&top, &**name, AtFlags::REMOVEDIR)?;
        }
        if names.is_empty() {
            return Ok(unlinkat(&folder, name, AtFlags::REMOVEDIR)?);
        }
    }
}

/// Removes a file or a link, or opens a folder.
fn unlink_or_open(
    above: impl AsFd,
    name: &OsStr,
) -> io::Result<Option<(OwnedFd, Option<Unlocked>)>> {
    match unlinkat(&above, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => open_folder(above, name).map(Some),
        other => Ok(other.map(|()| None)?),
    }
}

/// Opens a folder, also one that a program has locked.
fn open_folder(above: impl AsFd, name: &OsStr) -> io::Result<(OwnedFd, Option<Unlocked>)> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let unlocked = Unlocked::at(&above, name);
    Ok((openat(&above, name, flags, Mode::empty())?, unlocked))
}

fn entries(folder: &OwnedFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if ![&b"."[..], b".."].contains(&&*name) {
            names.push(OsString::from_vec(name));
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::protected::Bytes;

    #[test]
    fn the_way_to_a_spot_has_no_links_and_stays_below_the_root() {
        let root = tempfile::tempdir().unwrap();
        let (root, outside) = (root.path().join("root"), root.path().join("outside"));
        fs::create_dir_all(root.join("real")).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, root.join("link")).unwrap();
        assert!(Spot::open(&root, &root.join("real/file"), false).is_ok());
        // A program of a root around this one can replace it.
        let by_link = root.with_file_name("by-link");
        symlink(&root, &by_link).unwrap();
        assert!(Spot::open(&by_link, &by_link.join("real/file"), false).is_err());
        for path in [
            "link/file",
            "real/../../outside/file",
            "..",
            "",
            "missing/file",
        ] {
            assert!(
                Spot::open(&root, &root.join(path), false).is_err(),
                "{path}"
            );
        }
        assert!(
            Spot::open(&root, &root.join("link/new/file"), true).is_err()
                && !outside.join("new").exists()
        );
        assert!(
            Spot::open(&root, &outside.join("file"), true).is_err()
                && !root.join("missing").exists()
        );
    }

    #[test]
    fn a_former_file_replaces_nothing_and_follows_no_link() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("target"), "kept").unwrap();
        symlink("target", path("link")).unwrap();
        symlink("nowhere", path("dangling")).unwrap();
        let former = Former::File {
            mode: 0o644,
            content: Bytes::new(b"former".to_vec()),
        };
        for name in ["target", "link", "dangling"] {
            assert!(
                Spot::open(root.path(), &path(name), false)
                    .unwrap()
                    .restore(&former)
                    .is_err(),
                "{name}"
            );
        }
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "kept");
        assert!(!path("nowhere").exists());
    }
}
