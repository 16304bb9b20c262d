//! [`Hidden`]: places of the host that no tool reaches.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Dir;

use crate::path::RelativePath;

/// How many links are followed on the way to a place.
const MAX_LINKS: usize = 40;

/// A file or directory, by its device and number.
pub(crate) type Identity = (u64, u64);

/// Places of the host that no tool of a workspace reaches, whether or not there is something yet.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// As absolute paths.
    places: Vec<PathBuf>,
    /// The paths below the root by which they are reached.
    below: Vec<String>,
}

/// The hidden places as they are now.
#[derive(Debug)]
pub(crate) struct Sight<'a> {
    below: &'a [String],
    /// Of those places at which there is something.
    identities: Vec<Identity>,
}

impl Hidden {
    /// Adds a place.
    ///
    /// # Errors
    /// Returns an error if the path cannot be made absolute, or if the root lies inside of the place.
    pub(crate) fn add(&mut self, root: &Path, place: &Path) -> io::Result<()> {
        let place = std::path::absolute(place)?;
        let own = identity(&place);
        let is_place = |above: &Path| own.is_some() && identity(above) == own;
        if ways(&place).iter().any(|way| root.starts_with(way)) || root.ancestors().any(is_place) {
            let reason = format!("it lies in {}, which no tool may reach; choose another root", place.display());
            return Err(io::Error::other(reason));
        }
        self.below.extend(paths_below(root, &place));
        self.places.push(place);
        Ok(())
    }

    /// Looks at what is at the places.
    pub(crate) fn sight(&self) -> Sight<'_> {
        Sight { below: &self.below, identities: self.places.iter().filter_map(|place| identity(place)).collect() }
    }
}

impl Sight<'_> {
    /// Returns true if a name in a directory stands for a hidden place, or for something in one.
    pub(crate) fn hides(&self, dir: &Dir, name: &str, path: &RelativePath) -> bool {
        let has_identity = || {
            let metadata = dir.symlink_metadata(name);
            metadata.is_ok_and(|metadata| self.identities.contains(&(metadata.dev(), metadata.ino())))
        };
        self.hides_path(path.as_str()) || !self.identities.is_empty() && has_identity()
    }

    /// Returns true if a path without links is that of a hidden place, or below it.
    pub(crate) fn hides_path(&self, path: &str) -> bool {
        self.below.iter().any(|hidden| is_within(path, hidden))
    }

    /// Returns true if a path leads to a hidden place.
    pub(crate) fn is_above(&self, path: &RelativePath) -> bool {
        self.below.iter().any(|hidden| is_within(hidden, path.as_str()))
    }
}

/// Returns the paths below a root by which a place is reached: as it is written, and after each link on the way. The root is
/// without links.
pub(crate) fn paths_below(root: &Path, place: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for way in ways(place) {
        let Ok(below) = way.strip_prefix(root) else { continue };
        let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
        // No argument could spell another one.
        let path = names.and_then(|names| RelativePath::try_from(names.join("/")).ok());
        if let Some(path) = path.map(|path| path.to_string()).filter(|path| !paths.contains(path)) {
            paths.push(path);
        }
    }
    paths
}

/// Returns true if a path is another one or below it. Case does not count for ASCII letters, since some file systems ignore it.
fn is_within(path: &str, outer: &str) -> bool {
    let begins = path.get(..outer.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(outer));
    begins && matches!(path.as_bytes().get(outer.len()), None | Some(b'/'))
}

/// Returns an absolute path, what it becomes after each link on it, and its canonical form as far as it exists.
fn ways(path: &Path) -> Vec<PathBuf> {
    let mut ways = vec![resolved(path)];
    for _ in 0..MAX_LINKS {
        let Some(next) = ways.last().and_then(|way| after_first_link(way)) else { break };
        ways.push(next);
    }
    let canonical = path.ancestors().find_map(|existing| {
        let rest = path.strip_prefix(existing).ok()?;
        Some(resolved(&existing.canonicalize().ok()?.join(rest)))
    });
    ways.extend(canonical);
    ways
}

/// Replaces the first link on a path by its destination.
fn after_first_link(path: &Path) -> Option<PathBuf> {
    let above: Vec<&Path> = path.ancestors().collect();
    above.into_iter().rev().find_map(|link| {
        let destination = fs::read_link(link).ok()?;
        let rest = path.strip_prefix(link).ok()?;
        Some(resolved(&link.parent()?.join(destination).join(rest)))
    })
}

/// Resolves `.` and `..` by the text.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
    }
    resolved
}

#[cfg(unix)]
fn identity(place: &Path) -> Option<Identity> {
    fs::metadata(place).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<Identity> {
    None
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
