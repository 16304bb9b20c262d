//! [`Workspace`]: the directory that file tools work in.

#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_fs_ext::MetadataExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::hidden::{self, Hidden, Identity, Sight};

/// How many directories are remembered to have been visited. Those after them count as visited.
#[cfg(target_os = "linux")]
const MAX_VISITED: usize = 10_000;

/// The directory that file tools work in, and cannot leave: the service that a host puts into the context for them.
///
/// The directory is opened once and held open. Renaming it, or putting a link in its place, does not send the tools
/// elsewhere.
///
/// ```
/// use tools::{Grant, ToolContext};
/// use tools_fs::Workspace;
///
/// let cx = ToolContext::new()
///     .with_grant(Grant::parse(["fs:read:**"])?)
///     .with_service(Workspace::open(".")?);
/// # let _ = cx;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    dir: Dir,
    root: PathBuf,
    /// Its device and number.
    identity: Identity,
    hidden: Hidden,
    changing: Mutex<()>,
    /// The directories in which something was written, by device and number.
    #[cfg(target_os = "linux")]
    visited: Mutex<HashSet<(u64, u64)>>,
}

impl Workspace {
    /// Opens a directory as a workspace. Links on the way to it are followed.
    ///
    /// # Errors
    /// What the system says when the path is not a directory or cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let root = std::fs::canonicalize(path)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        let metadata = dir.dir_metadata()?;
        Ok(Self {
            dir,
            root,
            identity: (metadata.dev(), metadata.ino()),
            hidden: Hidden::default(),
            changing: Mutex::default(),
            #[cfg(target_os = "linux")]
            visited: Mutex::default(),
        })
    }

    /// Hides files and directories of the host from every tool, whatever is granted. Such a place need not exist yet, and it may lie
    /// outside of the workspace.
    ///
    /// A hidden place is neither listed nor found, and no link leads there. Reading it gives the same answer as a path that does not
    /// exist. Writing to it is refused, and so is moving or removing what contains it. It is known by its path, by the paths that
    /// the links on it lead to when this is called, and by its device and number for as long as something is there.
    ///
    /// # Errors
    /// An error if the workspace lies inside of such a place, or if a path cannot be made absolute.
    pub fn with_hidden(mut self, places: impl IntoIterator<Item: AsRef<Path>>) -> io::Result<Self> {
        for place in places {
            self.hidden.add(&self.root, place.as_ref())?;
        }
        Ok(self)
    }

    /// Returns the paths below the workspace by which a path of the host is reached, none if it lies outside: as it is written, and
    /// after each link on the way. A host names them in its [`SensitivePaths`](tools::policy::SensitivePaths).
    pub fn paths_to(&self, place: impl AsRef<Path>) -> Vec<String> {
        std::path::absolute(place).map(|place| hidden::paths_below(&self.root, &place)).unwrap_or_default()
    }

    /// Where the directory was when it was opened: an absolute path to show to people, not one to open files by.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory itself, by its device and number: the same by whatever path it was opened, for as long as it is open. A host
    /// names it to [`with_domain`](tools::ToolContext::with_domain), so that calls in different workspaces do not wait for each other.
    ///
    /// Workspaces that lie in each other have different identities although they share files: a host that has such ones at the same
    /// time names the outer one for all of them, or none.
    pub fn identity(&self) -> String {
        let (device, number) = self.identity;
        format!("{device:x}:{number:x}")
    }

    /// Looks at the hidden places.
    pub(crate) fn sight(&self) -> Sight<'_> {
        self.hidden.sight()
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Held while something that was looked at is being changed, so that tools of one workspace do not come in between.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        // It guards no data that a panic could have left half done.
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a directory, by its device and number, was not visited before.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_first_visit(&self, directory: (u64, u64)) -> bool {
        let mut visited = self.visited.lock().unwrap_or_else(PoisonError::into_inner);
        visited.len() < MAX_VISITED && visited.insert(directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_a_directory() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("file"), "").unwrap();
        assert!(Workspace::open(outside.path().join("file")).is_err());
        assert!(Workspace::open(outside.path().join("missing")).is_err());
        let workspace = Workspace::open(outside.path()).unwrap();
        assert!(workspace.root().is_absolute());
    }

    #[cfg(unix)]
    #[test]
    fn a_workspace_is_the_same_by_whatever_path_it_is_opened() {
        let outside = tempfile::tempdir().unwrap();
        let [a, b, link] = ["a", "b", "link"].map(|name| outside.path().join(name));
        std::fs::create_dir(&a).unwrap();
        std::fs::create_dir(&b).unwrap();
        std::os::unix::fs::symlink(&a, &link).unwrap();
        let [one, other, linked] = [&a, &b, &link].map(|path| Workspace::open(path).unwrap());
        assert_eq!(one.identity(), linked.identity());
        assert_ne!(one.identity(), other.identity());
        // Held open, it cannot lose its number to another one.
        std::fs::remove_dir(&a).unwrap();
        std::fs::create_dir(&a).unwrap();
        assert_ne!(Workspace::open(&a).unwrap().identity(), one.identity());
    }
}
