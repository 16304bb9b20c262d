//! Links through which a command of the person writes another file.

use std::fs;
use std::path::{Component, Path, PathBuf};

use host::folders;
use rustix::fs::{Access, access};
use tools_workspace::is_output;

use super::judge::{Judge, is_sensitive};
use crate::reserved::without_links;

/// The most links that the system follows one after the other.
const MAX_LINKS: usize = 40;

/// The note of a link at a name that no table has.
pub(super) const NOTE: &str = "a link to a place that is protected or not looked at, through which your own commands would write there";

/// Returns true for a link that leads to a protected file, to build outputs, which no look sees, or out of the workspace to a place that the
/// user may write. `here` is a path to the link without other links on the way.
///
/// Places below `/usr` count as the system's, because a user who is root may write all, and those in `~/.cache` are nobody's files.
pub(super) fn leads_astray((link, here): (&Path, &Path), root: &Path, judge: &Judge) -> bool {
    let (Ok(target), Some(folder)) = (fs::read_link(here), link.parent()) else {
        return false;
    };
    // Behind a name, `..` leads elsewhere as soon as the name becomes a link, or is made.
    let below = target
        .components()
        .skip_while(|part| matches!(part, Component::ParentDir | Component::CurDir));
    if below.clone().any(|part| part == Component::ParentDir) || target.starts_with("/proc") {
        return true;
    }
    let target = without_links(&folder.join(target));
    if let Ok(below) = target.strip_prefix(root) {
        let path = below.to_string_lossy();
        return path.split('/').any(is_output)
            || judge
                .find(&path)
                .is_some_and(|entry| is_sensitive(entry, &path));
    }
    let home = folders::home().map(|home| without_links(&home));
    let is_cache = home.is_some_and(|home| target.starts_with(home.join(".cache")));
    let is_of_system = target.starts_with("/usr") && !target.starts_with("/usr/local")
        || target == Path::new("/dev/null");
    let exists = target.ancestors().find(|above| above.exists());
    !is_cache
        && !is_of_system
        && exists.is_some_and(|place| access(place, Access::WRITE_OK).is_ok())
}

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
