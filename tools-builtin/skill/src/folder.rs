//! [`Folder`]: the open folder of a skill.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{
    DirExt as _, FollowSymlinks, MetadataExt as _, OpenOptionsFollowExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::fs::{Dir, File, OpenOptions};
use tools::protocol::Normaliser;
use tools::visible_line;

/// The name of a skill's file.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// The maximum number of entries among which a skill's file with another spelling is looked for.
const MAX_LOOKED_AT: usize = 1_000;

/// The maximum length of a path in a message, in characters.
const SHOWN: usize = 200;

/// The reason for which a hidden path is not read.
pub(crate) const HIDDEN: &str = "no tool may access it; move it out of the skill";

/// The device and the number of a file or folder on it.
type Identity = (u64, u64);

/// The open folder of a skill. Nothing outside of it can be read through it, because links are not followed, and no hidden path.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: Dir,
    hidden: Arc<[PathBuf]>,
}

/// The error of a skill's folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The path below the folder.
        path: String,
        /// The fault.
        source: io::Error,
    },
    /// An entry is a link.
    #[error("{path} is a link, and links in a skill are not followed; replace it by the file")]
    Link {
        /// The path below the folder.
        path: String,
    },
    /// An entry is neither a file nor a folder.
    #[error("{path} is no regular file; remove it")]
    Special {
        /// The path below the folder.
        path: String,
    },
    /// The name of an entry is not UTF-8.
    #[error("{path} is not UTF-8; rename it")]
    Name {
        /// The path below the folder, with replaced characters.
        path: String,
    },
    /// A file is no longer the one that was shown.
    #[error("{path} has changed since it was read; try again")]
    Changed {
        /// The path below the folder.
        path: String,
    },
    /// A path leads out of the folder, or is none.
    #[error("{path:?} is no path below the folder of the skill: {reason}")]
    Path {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The folder has too many files or folders, or too deep ones.
    #[error("it has more than {most} {what}; remove the ones that the skill does not need")]
    Many {
        /// The limit.
        most: usize,
        /// Files, folders or levels.
        what: &'static str,
    },
    /// The files are too large.
    #[error(
        "{path} makes the files longer than {most} bytes together; remove the ones that the skill does not need"
    )]
    Large {
        /// The path below the folder.
        path: String,
        /// The limit.
        most: u64,
    },
}

/// A file of a skill that was read.
pub(crate) struct ReadFile {
    pub(crate) bytes: Vec<u8>,
    /// The size of the file, which can be greater than the number of bytes.
    pub(crate) size: u64,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    Special,
}

impl Folder {
    pub(crate) fn new(dir: Dir, hidden: Arc<[PathBuf]>) -> Self {
        Self { dir, hidden }
    }

    /// Returns the numbers of the device and of the folder on it.
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        let metadata = self.dir.dir_metadata()?;
        Ok((metadata.dev(), metadata.ino()))
    }

    /// Returns an error if this is a hidden file or folder, by whatever path it was opened.
    fn check(&self, opened: Identity) -> io::Result<()> {
        let mut hidden = self.hidden.iter();
        // By device and number: a hard link to a hidden file has another path.
        if hidden.any(|place| identity(place) == Some(opened)) {
            return Err(io::Error::other(HIDDEN));
        }
        Ok(())
    }

    /// Returns the entries with their kinds, sorted by name, at most that many.
    pub(crate) fn entries(
        &self,
        most: usize,
    ) -> io::Result<Vec<(Result<String, String>, EntryKind)>> {
        let mut entries = Vec::new();
        for entry in self.dir.entries()?.take(most) {
            let entry = entry?;
            let kind = match entry.file_type()? {
                kind if kind.is_symlink() => EntryKind::Link,
                kind if kind.is_dir() => EntryKind::Folder,
                kind if kind.is_file() => EntryKind::File,
                _ => EntryKind::Special,
            };
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| name.to_string_lossy().into_owned());
            entries.push((name, kind));
        }
        entries.sort();
        Ok(entries)
    }

    /// Opens a folder in this one. A link is refused.
    pub(crate) fn child(&self, name: &str) -> io::Result<Self> {
        let child = Self::new(self.dir.open_dir_nofollow(name)?, self.hidden.clone());
        self.check(child.identity()?)?;
        Ok(child)
    }

    /// Returns the name of the skill's file: `SKILL.md`, in any letter case. Returns `None` if there is none.
    pub(crate) fn skill_file(&self) -> Option<String> {
        if self.dir.symlink_metadata(SKILL_FILE).is_ok() {
            return Some(SKILL_FILE.to_owned());
        }
        let entries = self.entries(MAX_LOOKED_AT).ok()?;
        let mut names = entries.into_iter().filter_map(|(name, _)| name.ok());
        names.find(|name| name.eq_ignore_ascii_case(SKILL_FILE))
    }

    /// Reads at most that many bytes of a file below the folder.
    ///
    /// # Errors
    /// Returns an error if the path leads out of the folder or through a link, or if it is no regular file.
    pub(crate) fn read(&self, path: &str, most: u64) -> Result<ReadFile, FolderError> {
        let shown = || visible_line(path, SHOWN);
        let failed = |source| FolderError::Read {
            path: shown(),
            source,
        };
        let file = self.open(path)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(FolderError::Special { path: shown() });
        }
        self.check((metadata.dev(), metadata.ino()))
            .map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        // The file may have grown since its metadata was read.
        let size = metadata.len().max(bytes.len() as u64);
        Ok(ReadFile { bytes, size })
    }

    fn open(&self, path: &str) -> Result<File, FolderError> {
        let refused = |reason: String| FolderError::Path {
            path: visible_line(path, SHOWN),
            reason,
        };
        let normal = Normaliser::Path
            .apply(path)
            .map_err(|error| refused(error.to_string()))?;
        let (above, name) = normal.rsplit_once('/').unwrap_or(("", &normal));
        let dir = self.dir.try_clone().map_err(|source| FolderError::Read {
            path: visible_line(path, SHOWN),
            source,
        })?;
        let mut folder = Self::new(dir, self.hidden.clone());
        let mut so_far = String::new();
        // Step by step, so that each folder is checked. In one step, a link to another place in the folder would be followed.
        for part in above.split('/').filter(|part| !part.is_empty()) {
            so_far = if so_far.is_empty() {
                part.to_owned()
            } else {
                format!("{so_far}/{part}")
            };
            folder = folder
                .child(part)
                .map_err(|source| fault(&folder.dir, part, &so_far, source))?;
        }
        let dir = folder.dir;
        if dir
            .symlink_metadata(name)
            .is_ok_and(|metadata| metadata.is_dir())
        {
            return Err(refused("it is a folder; name a file".to_owned()));
        }
        let mut options = OpenOptions::new();
        // `nonblock`, so that a named pipe is refused instead of waited for.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        dir.open_with(name, &options)
            .map_err(|source| fault(&dir, name, &normal, source))
    }
}

fn identity(place: &Path) -> Option<Identity> {
    std::fs::metadata(place)
        .ok()
        .map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Returns the error of an entry that cannot be opened, which may be a link.
fn fault(dir: &Dir, name: &str, path: &str, source: io::Error) -> FolderError {
    let path = visible_line(path, SHOWN);
    match dir.symlink_metadata(name) {
        Ok(metadata) if metadata.is_symlink() => FolderError::Link { path },
        _ => FolderError::Read { path, source },
    }
}
