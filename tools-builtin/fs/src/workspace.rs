//! [`Workspace`]: the directory that file tools work in.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

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
    changing: Mutex<()>,
}

impl Workspace {
    /// Opens a directory as a workspace. Links on the way to it are followed.
    ///
    /// # Errors
    /// What the system says when the path is not a directory or cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let root = std::fs::canonicalize(path)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Self { dir, root, changing: Mutex::new(()) })
    }

    /// Where the directory was when it was opened: an absolute path to show to people, not one to open files by.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Held while something that was looked at is being changed, so that tools of one workspace do not come in between.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        // It guards no data that a panic could have left half done.
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
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
}
