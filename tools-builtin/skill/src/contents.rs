//! [`Contents`]: the files of a skill, by path and digest.

use std::collections::BTreeMap;

use tools::{Digest, visible_line};

use crate::folder::{EntryKind, Folder, FolderError};

/// The maximum number of files and folders.
const MAX_ENTRIES: usize = 2_000;

/// The maximum number of levels.
const MAX_DEPTH: usize = 16;

/// The maximum size of all files together, in bytes.
pub(crate) const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The files of a skill: the path of each below the folder, with the digest of its bytes. A person approves a project's skill with these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    files: BTreeMap<String, Digest>,
}

impl Contents {
    /// Reads all files of a folder. Returns the bytes of one of them too.
    ///
    /// # Errors
    /// Returns an error if the folder has a link or an entry of another kind, if it is too large, or if a file cannot be read.
    pub(crate) fn of(folder: &Folder, kept: &str) -> Result<(Self, Vec<u8>), FolderError> {
        let mut reading = Reading {
            contents: Self::default(),
            entries: 0,
            left: MAX_BYTES,
            kept: (kept, Vec::new()),
        };
        reading.enter(folder, "", 0)?;
        Ok((reading.contents, reading.kept.1))
    }

    /// Returns the files with their digests, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.files
            .iter()
            .map(|(path, digest)| (path.as_str(), digest))
    }

    /// Returns the digest of a file.
    pub(crate) fn file(&self, path: &str) -> Option<&Digest> {
        self.files.get(path)
    }

    /// Returns the paths that differ, sorted.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut paths: Vec<_> = self.files.keys().chain(other.files.keys()).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.files.get(*path) != other.files.get(*path));
        paths.into_iter().cloned().collect()
    }
}

struct Reading<'a> {
    contents: Contents,
    entries: usize,
    left: u64,
    /// A path, and the bytes of its file.
    kept: (&'a str, Vec<u8>),
}

impl Reading<'_> {
    fn enter(&mut self, folder: &Folder, above: &str, depth: usize) -> Result<(), FolderError> {
        if depth > MAX_DEPTH {
            return Err(FolderError::Many {
                most: MAX_DEPTH,
                what: "levels of folders",
            });
        }
        let failed = |path: &str, source| FolderError::Read {
            path: visible_line(path, 200),
            source,
        };
        let entries = folder
            .entries(MAX_ENTRIES + 1)
            .map_err(|source| failed(above, source))?;
        self.entries += entries.len();
        if self.entries > MAX_ENTRIES {
            return Err(FolderError::Many {
                most: MAX_ENTRIES,
                what: "files and folders",
            });
        }
        for (name, kind) in entries {
            let name = name.map_err(|name| FolderError::Name {
                path: visible_line(&name, 200),
            })?;
            let path = if above.is_empty() {
                name.clone()
            } else {
                format!("{above}/{name}")
            };
            let shown = || visible_line(&path, 200);
            match kind {
                EntryKind::Link => return Err(FolderError::Link { path: shown() }),
                EntryKind::Special => return Err(FolderError::Special { path: shown() }),
                EntryKind::Folder => {
                    let child = folder
                        .child(&name)
                        .map_err(|source| failed(&path, source))?;
                    self.enter(&child, &path, depth + 1)?;
                }
                EntryKind::File => {
                    let file = folder.read(&name, self.left + 1)?;
                    let length = file.bytes.len() as u64;
                    if length > self.left || file.size > MAX_BYTES {
                        return Err(FolderError::Large {
                            path: shown(),
                            most: MAX_BYTES,
                        });
                    }
                    self.left -= length;
                    let digest = Digest::hash_bytes(&file.bytes);
                    if path == self.kept.0 {
                        self.kept.1 = file.bytes;
                    }
                    self.contents.files.insert(path, digest);
                }
            }
        }
        Ok(())
    }
}
