//! [`Workspace`]: the directory to which file tools are confined.

#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use cap_fs_ext::MetadataExt as _;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use host::settings::SensitivePlace;
use host::{folders, placed};
use tools::policy::{SensitivePath, Sensitivity};
use tools::{Host, IgnorePoison as _};

use crate::hidden::{self, Hidden, HiddenSnapshot, Identity};

/// The maximum number of visited directories remembered. Further directories count as visited.
#[cfg(target_os = "linux")]
const MAX_VISITED: usize = 10_000;

/// The directory to which file tools are confined, and the service that they take from the call's context.
///
/// The directory is opened once and stays open. Renaming it or replacing it with a link does not redirect the tools.
///
/// ```
/// use tools::{Grant, Host};
/// use tools_workspace::Workspace;
///
/// let cx = Host::new()
///     .with_grant(Grant::parse(["fs:read:**"])?)
///     .with_service(Workspace::open(".")?);
/// # let _ = cx;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    dir: Dir,
    root: PathBuf,
    identity: Identity,
    hidden: Hidden,
    changing: Mutex<()>,
    /// The directories that were already cleared of abandoned drafts.
    #[cfg(target_os = "linux")]
    visited: Mutex<HashSet<Identity>>,
}

impl Workspace {
    /// Opens a directory as a workspace. Follows links in `path`.
    ///
    /// # Errors
    /// Returns an error if the path is not a directory or cannot be opened.
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

    /// Hides host files and directories from every tool. No grant makes them accessible.
    ///
    /// A hidden path need not exist yet and may lie outside the workspace.
    ///
    /// - Listings and searches omit it, and no link leads to it.
    /// - Reading it gives the same error as a path that does not exist.
    /// - Writing to it, or moving or removing a directory that contains it, is refused.
    ///
    /// A hidden path is recognised by its text, and by the paths to which links on it lead when this method is called. An existing
    /// file is also recognised by its device and inode number.
    ///
    /// # Errors
    /// Returns an error if the workspace lies inside a hidden path, or if a path cannot be made absolute.
    pub fn with_hidden(mut self, places: impl IntoIterator<Item: AsRef<Path>>) -> io::Result<Self> {
        for place in places {
            self.hidden.add(&self.root, place.as_ref())?;
        }
        Ok(self)
    }

    /// Returns the relative paths below the workspace root that lead to a host path: as it is written, and after each link on it.
    ///
    /// The result is empty if the path lies outside the workspace. Hosts add these paths to their
    /// [`SensitivePaths`](tools::policy::SensitivePaths).
    pub fn paths_to(&self, place: impl AsRef<Path>) -> Vec<String> {
        std::path::absolute(place)
            .map(|place| hidden::paths_below(&self.root, &place))
            .unwrap_or_default()
    }

    /// Returns the absolute path of the directory at the time it was opened. Use it for display only, not to open files.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the paths that [`with_hidden`](Self::with_hidden) hides. A host that starts programs hides them from these too.
    pub fn hidden_paths(&self) -> &[PathBuf] {
        &self.hidden.places
    }

    /// Returns the device and inode number of the directory, as text. It does not depend on the path by which the directory was opened.
    ///
    /// Pass it to [`with_domain`](tools::Host::with_domain), so that calls in different workspaces do not wait for each other.
    ///
    /// Nested workspaces share files but have different identities. If a host uses them at the same time, it passes the identity
    /// of the outermost one for all of them, or sets no domain.
    pub fn identity(&self) -> String {
        let (device, number) = self.identity;
        format!("{device:x}:{number:x}")
    }

    /// Adds the places below the root to the sensitive paths of a host, as files that other programs run. If the root lies in a place, all
    /// of its files are.
    pub fn protect(&self, host: Host, places: &[SensitivePlace]) -> Host {
        let mut entries = Vec::new();
        for place in places {
            let end = if place.is_folder { "/**" } else { "" };
            let (start, paths) = match place.path.to_str() {
                Some(name) if place.path.is_relative() => ("", vec![name.to_owned()]),
                _ => ("/", self.paths_to(&place.path)),
            };
            if paths.is_empty() {
                let path = self.outside(&place.path);
                let path = format!("{}{end}", path.display());
                let kind = Sensitivity::RunsByItself;
                entries.push(SensitivePath::outside(path, kind, place.note));
            }
            let paths = paths.iter().filter(|path| *path != ".");
            entries.extend(paths.filter_map(|path| {
                let pattern = format!("{start}{path}{end}");
                SensitivePath::new(pattern, Sensitivity::RunsByItself, place.note).ok()
            }));
        }
        let mut paths = host.sensitive_paths().clone().with_paths(entries);
        if places.iter().any(|place| self.lies_in(&place.path)) {
            paths = paths.in_settings_folder();
        }
        host.with_sensitive_paths(paths)
    }

    /// Returns the path from the root to a place that lies outside, without the links on the way to it.
    fn outside(&self, place: &Path) -> PathBuf {
        let folder = place.parent().and_then(|it| it.canonicalize().ok());
        let whole = folder.zip(place.file_name());
        let whole = whole.map_or_else(|| place.to_owned(), |(folder, name)| folder.join(name));
        placed::relative(&self.root, &whole)
    }

    /// Returns true if the root is a folder, or lies in it and not in a folder of worktrees. One with the home, to which a link may lead, is
    /// no place of settings.
    fn lies_in(&self, folder: &Path) -> bool {
        let home = folders::home().and_then(|home| home.canonicalize().ok());
        let folder = Some(folder).filter(|folder| folder.is_absolute());
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        folder.is_some_and(|folder| {
            let has_home = home.is_some_and(|home| home.starts_with(&folder));
            let mut below = self.root().strip_prefix(&folder).into_iter().flatten();
            let is_checkout = below.any(|name| name == "worktrees");
            self.root().starts_with(&folder) && !has_home && !is_checkout
        })
    }

    /// Returns the hidden paths with the device and inode numbers of those that exist now.
    pub fn hidden_snapshot(&self) -> HiddenSnapshot<'_> {
        self.hidden.snapshot()
    }

    /// Returns the open directory. What a tool opens in it must be in the grant and not hidden.
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Locks the workspace for a change, so that no other call of it interferes between check and change.
    pub fn lock_changes(&self) -> MutexGuard<'_, ()> {
        // The lock guards no data that a panic could leave inconsistent.
        self.changing.lock().ignore_poison()
    }

    /// Marks a directory as visited. Returns true if it was not visited before.
    #[cfg(target_os = "linux")]
    pub fn is_first_visit(&self, directory: Identity) -> bool {
        let mut visited = self.visited.lock().ignore_poison();
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
        // The inode number is not reused while the directory is open.
        std::fs::remove_dir(&a).unwrap();
        std::fs::create_dir(&a).unwrap();
        assert_ne!(Workspace::open(&a).unwrap().identity(), one.identity());
    }
}
