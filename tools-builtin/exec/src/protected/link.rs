//! Links through which a command of the person writes another file.

use std::fs;
use std::path::{Component, Path, PathBuf};

use host::folders;
use rustix::fs::{Access, access};
use tools_fs::is_output;

use super::judge::{self, Judge, is_sensitive};
use super::{Look, Protected};
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

/// Returns true for a link to a file that programs cannot replace: all on its way are protected or lie outside of the writable trees.
pub(super) fn is_kept_elsewhere(link: &Path, look: &Look) -> bool {
    let is_free = |path: &Path| {
        let relative = look.relative(path);
        let is_writable = look.trees.iter().any(|tree| {
            tree.path == "." && path.starts_with(&look.root)
                || path.starts_with(look.root.join(&tree.path))
        });
        let entry = look.judge.find(&relative);
        is_writable
            && !entry.is_some_and(|entry| {
                is_sensitive(entry, &relative) && look.judge.matters(&relative)
            })
    };
    let mut link = link.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&link) else {
            return true;
        };
        let Some(target) = link.parent().map(|folder| folder.join(target)) else {
            return false;
        };
        let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
            return !is_free(&without_links(&target));
        };
        let real = without_links(folder).join(name);
        // Who replaces a link to a folder on the way chooses the file, too.
        if is_free(&real) || target.starts_with(&look.root) && real != normal(&target) {
            return false;
        }
        link = real;
    }
    false
}

/// Returns true for a link between names of instructions, such as `CLAUDE.md -> AGENTS.md`, to a file that was there before and is the same.
pub(super) fn is_alias(link: &Path, before: &Protected, look: &Look) -> bool {
    let (Ok(target), Some(folder)) = (fs::read_link(link), link.parent()) else {
        return false;
    };
    let target = normal(&folder.join(target));
    let is_same = before
        .found
        .get(&target)
        .is_some_and(|found| !found.may_differ(&target));
    [link, &*target]
        .iter()
        .all(|path| judge::is_instruction(&look.relative(path)))
        && is_same
        && without_links(&target) == target
        && target.is_file()
}

/// Returns the path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}
