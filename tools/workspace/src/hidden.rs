//! [`Hidden`]: host paths that no tool can access.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Dir;
use host::placed::normalise;
use tools::protocol::Normaliser;

/// The maximum number of links followed while resolving a hidden path.
const MAX_LINKS: usize = 40;

/// The device and inode number of a file or directory.
pub type Identity = (u64, u64);

/// Host paths that no tool of a workspace can access. They need not exist yet.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// Absolute paths.
    pub(crate) places: Vec<PathBuf>,
    /// The relative paths below the workspace root that lead to them.
    below: Vec<String>,
}

/// The hidden paths together with the identities of the files that exist there at one moment.
#[derive(Debug)]
pub struct HiddenSnapshot<'a> {
    below: &'a [String],
    /// The identities of the hidden paths that exist.
    identities: Vec<Identity>,
}

impl Hidden {
    /// Adds a hidden path.
    ///
    /// # Errors
    /// Returns an error if the path cannot be made absolute, or if the workspace root lies inside it.
    pub(crate) fn add(&mut self, root: &Path, place: &Path) -> io::Result<()> {
        let place = std::path::absolute(place)?;
        let own = identity(&place);
        if spellings(&place).iter().any(|path| root.starts_with(path))
            || own.is_some() && root.ancestors().any(|above| identity(above) == own)
        {
            let reason = format!(
                "the workspace root lies in {}, which no tool may access; choose another root",
                place.display()
            );
            return Err(io::Error::other(reason));
        }
        self.below.extend(paths_below(root, &place));
        self.places.push(place);
        Ok(())
    }

    /// Reads the current identities of the hidden paths.
    pub(crate) fn snapshot(&self) -> HiddenSnapshot<'_> {
        let identities = self.places.iter().filter_map(|place| identity(place));
        HiddenSnapshot {
            below: &self.below,
            identities: identities.collect(),
        }
    }
}

impl HiddenSnapshot<'_> {
    /// Returns true if the entry is a hidden path or lies below one, by its path or by its identity.
    pub fn hides(&self, dir: &Dir, name: &str, path: &str) -> bool {
        self.hides_path(path)
            || !self.identities.is_empty()
                && dir
                    .symlink_metadata(name)
                    .is_ok_and(|metadata| self.has_identity((metadata.dev(), metadata.ino())))
    }

    /// Returns true if a file or directory is a hidden path.
    pub fn has_identity(&self, identity: Identity) -> bool {
        self.identities.contains(&identity)
    }

    /// Returns true if a path without links is hidden or lies below a hidden path.
    pub fn hides_path(&self, path: &str) -> bool {
        self.below.iter().any(|hidden| is_within(path, hidden))
    }

    /// Returns true if a hidden path lies at or below this path.
    pub fn has_hidden_below(&self, path: &str) -> bool {
        self.below.iter().any(|hidden| is_within(hidden, path))
    }
}

/// Returns the relative paths below `root` that lead to `place`: as it is written, and after each link on the way.
///
/// `root` must be canonical.
pub(crate) fn paths_below(root: &Path, place: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for spelling in spellings(place) {
        let Ok(below) = spelling.strip_prefix(root) else {
            continue;
        };
        let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
        // A path that is not a valid argument cannot be requested by a call.
        let path = names.and_then(|names| Normaliser::Path.apply(&names.join("/")).ok());
        if let Some(path) = path.filter(|path| !paths.contains(path)) {
            paths.push(path);
        }
    }
    paths
}

/// Returns true if `path` is `outer` or lies below it. Ignores ASCII case, as some file systems do.
fn is_within(path: &str, outer: &str) -> bool {
    let begins = path
        .get(..outer.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(outer));
    begins && matches!(path.as_bytes().get(outer.len()), None | Some(b'/'))
}

/// Returns the spellings of an absolute path: normalised, after each link on it, and with its existing part canonicalised.
fn spellings(path: &Path) -> Vec<PathBuf> {
    let mut spellings = vec![normalise(path)];
    for _ in 0..MAX_LINKS {
        let Some(next) = spellings.last().and_then(|path| after_first_link(path)) else {
            break;
        };
        spellings.push(next);
    }
    let canonical = path.ancestors().find_map(|existing| {
        let rest = path.strip_prefix(existing).ok()?;
        Some(normalise(&existing.canonicalize().ok()?.join(rest)))
    });
    spellings.extend(canonical);
    spellings
}

/// Replaces the first link on a path with its target. Returns `None` if there is no link.
fn after_first_link(path: &Path) -> Option<PathBuf> {
    let above: Vec<&Path> = path.ancestors().collect();
    above.into_iter().rev().find_map(|link| {
        let target = fs::read_link(link).ok()?;
        let rest = path.strip_prefix(link).ok()?;
        Some(normalise(&link.parent()?.join(target).join(rest)))
    })
}

fn identity(place: &Path) -> Option<Identity> {
    let metadata = fs::metadata(place).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
