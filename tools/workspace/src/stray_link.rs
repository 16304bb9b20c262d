//! Links through which a command of the person writes another file.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use host::folders;
use rustix::fs::{Access, access};
use tools::policy::{SensitivePaths, Sensitivity};

use crate::kinds::is_output;

/// The most links on a path, as for the kernel.
const MAX_LINKS: usize = 40;

/// Returns true for a link that leads to a protected file, to build outputs, which no look sees, or out of the workspace to a place that the
/// user may write. So does one that leads there on its way: who turns a link there turns it, too. `link` is the path of the link, without
/// other links on the way, and `root` that of the workspace.
///
/// Places below `/usr` count as the system's, because a user who is root may write all, and those in `~/.cache` are nobody's files.
pub fn leads_astray(link: &Path, target: &Path, root: &Path, paths: &SensitivePaths) -> bool {
    let Some(folder) = link.parent() else {
        return false;
    };
    // Behind a name, `..` leads elsewhere as soon as the name becomes a link, or is made.
    let mut below = target
        .components()
        .skip_while(|part| matches!(part, Component::ParentDir | Component::CurDir));
    if below.any(|part| part == Component::ParentDir) {
        return true;
    }
    let (links, end) = resolve(&folder.join(target));
    let is_output_or_listed = |place: &Path| {
        let path = place.strip_prefix(root).unwrap_or(place).to_string_lossy();
        let entry = paths.find(&path);
        path.split('/').any(is_output)
            || entry.is_some_and(|entry| {
                entry.sensitivity >= Sensitivity::RunsByItself
                    && entry.describe(&path) == entry.note
            })
    };
    let home = folders::home().and_then(|home| home.canonicalize().ok());
    let is_nobodys = |place: &Path| {
        let is_cache = (home.as_ref()).is_some_and(|home| place.starts_with(home.join(".cache")));
        let is_of_usr = place.starts_with("/usr") && !place.starts_with("/usr/local");
        is_cache || is_of_usr || place == Path::new("/dev/null")
    };
    let is_astray = |place: &Path, changed: &Path| {
        if place.starts_with(root) {
            return is_output_or_listed(place);
        }
        !is_nobodys(place) && access(changed, Access::WRITE_OK).is_ok()
    };
    // Who replaces a link writes its folder. Those of the system's are a part of it.
    let is_link_astray = |link: &PathBuf| {
        let folder = link.parent().unwrap_or(link);
        let is_of_system = folder == Path::new("/") || link.starts_with("/etc/alternatives");
        link.starts_with("/proc") || !is_of_system && is_astray(link, folder)
    };
    let exists = end.ancestors().find(|above| above.exists());
    end.starts_with("/proc")
        || is_astray(&end, exists.unwrap_or(&end))
        || links.iter().any(is_link_astray)
}

/// Returns the links on an absolute path, and the place to which it leads, or to which it gets if they are too many.
fn resolve(path: &Path) -> (Vec<PathBuf>, PathBuf) {
    let names = |path: &Path| -> Vec<OsString> {
        let names = path.components().rev().filter_map(|part| match part {
            Component::Normal(_) | Component::ParentDir => Some(part.as_os_str().to_owned()),
            _ => None,
        });
        names.collect()
    };
    let mut links = Vec::new();
    let mut here = PathBuf::from("/");
    let mut waiting = names(path);
    while let Some(name) = waiting.pop() {
        if name == ".." {
            here.pop();
            continue;
        }
        here.push(name);
        if let Ok(target) = fs::read_link(&here) {
            if links.len() == MAX_LINKS {
                break;
            }
            links.push(here.clone());
            here.pop();
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            waiting.extend(names(&target));
        }
    }
    (links, here)
}
