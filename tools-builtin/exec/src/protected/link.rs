//! Links at protected names, which a program may replace while it runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::reserved::without_links;

/// The most links that the system follows one after the other.
const MAX_LINKS: usize = 40;

/// Returns true for a link to a file that programs cannot replace, nor what leads to it.
pub(super) fn leads_to_kept(link: &Path, root: &Path, is_free: impl Fn(&Path) -> bool) -> bool {
    let mut link = link.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(target) = target_of(&link) else {
            return true;
        };
        let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
            return false;
        };
        let real = without_links(folder).join(name);
        if has_links(folder, root) || is_free(&real) {
            return false;
        }
        link = real;
    }
    false
}

/// Returns the file to which a link leads by no other link.
pub(super) fn file_of(link: &Path, root: &Path) -> Option<PathBuf> {
    let target = target_of(link).filter(|target| !has_links(target, root))?;
    Some(without_links(&target)).filter(|target| target.is_file())
}

fn target_of(link: &Path) -> Option<PathBuf> {
    Some(link.parent()?.join(fs::read_link(link).ok()?))
}

/// Returns true if the path, or a folder on the way to it, is a link below the root. Who replaces that chooses the file.
fn has_links(path: &Path, root: &Path) -> bool {
    let mut way = path.ancestors().filter(|path| path.starts_with(root));
    way.any(|path| path != root && path.is_symlink())
}
