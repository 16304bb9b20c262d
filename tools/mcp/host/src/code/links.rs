//! The documents of a workspace to which links give the name of something else.

use std::fs;
use std::path::{Path, PathBuf};

use host::is_document;

/// The most entries of a workspace that are looked at.
const MAX_ENTRIES: usize = 200_000;

/// Returns the documents to which links lead that have no name of a document. Returns `None` if there are too many entries, or if some
/// cannot be read.
pub(super) fn documents(workspace: &Path) -> Option<Vec<PathBuf>> {
    documents_among(workspace, MAX_ENTRIES)
}

fn documents_among(workspace: &Path, most: usize) -> Option<Vec<PathBuf>> {
    let mut waiting = vec![workspace.to_owned()];
    let mut found = Vec::new();
    let mut left = most;
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).ok()? {
            let entry = entry.ok()?;
            left = left.checked_sub(1)?;
            let kind = entry.file_type().ok()?;
            let path = entry.path();
            if kind.is_dir() && entry.file_name() != ".git" {
                waiting.push(path);
            } else if kind.is_symlink() && !is_document(&path) {
                let target = path.canonicalize().ok();
                found.extend(target.filter(|target| is_document(target)));
            }
        }
    }
    Some(found)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn too_many_entries_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "").unwrap();
        std::os::unix::fs::symlink("a.md", folder.path().join("b")).unwrap();
        let found = folder.path().canonicalize().unwrap().join("a.md");
        assert_eq!(documents_among(folder.path(), 2), Some(vec![found]));
        assert_eq!(documents_among(folder.path(), 1), None);
    }
}
