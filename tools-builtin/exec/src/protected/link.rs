//! Links through which a command of the person writes another file.

use std::fs;
use std::path::Path;

use host::folders;

use super::judge::{Judge, is_sensitive};
use crate::reserved::without_links;

/// The note of a link at a name that no table has.
pub(super) const NOTE: &str = "a link to a file that runs by itself, or to your home, through which your own commands would write there";

/// Returns true for a link that leads to a protected file of the workspace, or out of it to a place in the home of the user that is no
/// cache. `here` is a path to the link without other links on the way.
pub(super) fn leads_astray((link, here): (&Path, &Path), root: &Path, judge: &Judge) -> bool {
    let (Ok(target), Some(folder)) = (fs::read_link(here), link.parent()) else {
        return false;
    };
    let target = without_links(&folder.join(target));
    if let Ok(below) = target.strip_prefix(root) {
        let below = below.to_string_lossy();
        return judge
            .find(&below)
            .is_some_and(|entry| is_sensitive(entry, &below));
    }
    let home = folders::home().map(|home| without_links(&home));
    home.is_some_and(|home| target.starts_with(&home) && !target.starts_with(home.join(".cache")))
}
