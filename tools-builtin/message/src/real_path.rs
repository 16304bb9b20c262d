//! [`real_path`]: the one path of a file.

use std::path::{Path, PathBuf};

/// The links that a file name leads through at most, as on Linux.
const MAX_LINKS: usize = 40;

/// Returns the absolute path of a file without links, so that two paths of one file are equal. The file may be missing, also if a link
/// leads to it.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MAX_LINKS {
        let Ok(target) = path.read_link() else { break };
        path = path.parent().unwrap_or(&path).join(target);
    }
    let existing = path
        .ancestors()
        .find_map(|above| Some((above.canonicalize().ok()?, above)));
    match existing.and_then(|(real, above)| Some((real, path.strip_prefix(above).ok()?))) {
        Some((real, rest)) => real.components().chain(rest.components()).collect(),
        None => path,
    }
}
