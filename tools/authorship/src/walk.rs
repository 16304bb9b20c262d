//! Finds the committed files of the user for files and folders on disk.

use std::fs;
use std::path::PathBuf;

use crate::committed::Committed;
use crate::history::{Blob, Kind};
use crate::repository::Repository;

/// The most files of one judgement.
const MAX_FILES: usize = 10_000;

/// Returns all files at these paths and below them, each with its committed content. Returns `None` if there are too many, or one that the
/// user has not committed. So has a folder without such a file, because it has a name.
pub(crate) fn files<'a>(
    repository: &Repository,
    committed: &'a Committed,
    paths: &[PathBuf],
) -> Option<Vec<(PathBuf, &'a Blob)>> {
    let mut found = Vec::new();
    let mut waiting = paths.to_vec();
    while let Some(path) = waiting.pop() {
        let relative = repository.relative(&path)?;
        let metadata = match fs::symlink_metadata(&path) {
            // A clause can name a file that is not there.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            metadata => metadata.ok()?,
        };
        if metadata.is_dir() {
            if !committed.has_name(&relative) {
                return None;
            }
            for entry in fs::read_dir(&path).ok()? {
                waiting.push(entry.ok()?.path());
            }
            continue;
        }
        let blob = committed.file(&relative)?;
        let is_same_kind = match blob.kind {
            Kind::File | Kind::Program => metadata.is_file(),
            Kind::Link => metadata.is_symlink(),
        };
        if !is_same_kind || found.len() == MAX_FILES {
            return None;
        }
        found.push((path, blob));
    }
    Some(found)
}
