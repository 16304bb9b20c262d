//! [`Aside`] on systems where programs are unavailable: nothing lies aside.

use std::io;
use std::path::{Path, PathBuf};

use tools::{ProtectedFate, ProtectedFile};

/// The folder for what programs planted. Programs are unavailable on this system, so it is empty.
#[derive(Clone, Debug)]
pub struct Aside(PathBuf);

/// A protected file that lies aside.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// The root of the workspace.
    pub root: PathBuf,
    /// The path below the root, as visible text.
    pub path: String,
    /// The path at which it was.
    pub origin: PathBuf,
    /// A phrase that describes the file and the program that runs it.
    pub note: String,
    /// The place of the file now.
    pub place: Option<PathBuf>,
    /// True if the path had another content before.
    pub was_there: bool,
}

impl Aside {
    /// Uses this folder, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns nothing, because no program runs.
    pub fn list(&self, _root: &Path) -> Vec<SetAside> {
        Vec::new()
    }

    /// Moves nothing, because no program runs.
    pub fn recover(&self, _root: &Path) -> Vec<ProtectedFile> {
        Vec::new()
    }
}

impl SetAside {
    /// Puts nothing back, because nothing lies aside.
    ///
    /// # Errors
    /// Returns an error.
    pub fn put_back(&self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns false, because nothing lies aside.
    pub fn is_in_workspace(&self) -> bool {
        false
    }

    /// Returns true, because no command puts anything back.
    pub fn leads_elsewhere(&self) -> bool {
        true
    }

    /// Returns what a person is told about the file.
    pub fn to_protected(&self, _is_back: bool) -> ProtectedFile {
        ProtectedFile::new(self.path.clone(), self.note.clone(), ProtectedFate::Stuck)
    }
}
