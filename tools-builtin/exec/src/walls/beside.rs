//! The parts of a tree beside some paths.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns `tree`, or its largest parts that contain no path of `hidden`.
pub(crate) fn beside(tree: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let tree = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
    if hidden.iter().any(|path| tree.starts_with(path)) {
        return Vec::new();
    }
    if !hidden.iter().any(|path| path.starts_with(&tree)) {
        return vec![tree];
    }
    let entries = fs::read_dir(&tree).into_iter().flatten().flatten();
    // A rule for a link would be a rule for its target, which may be outside.
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    entries
        .flat_map(|entry| beside(&entry.path(), hidden))
        .collect()
}
