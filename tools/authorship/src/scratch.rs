//! [`Scratch`]: a repository for tests.

// Clippy allows `unwrap` in tests, but not in their helper functions.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::git::Git;
use crate::repository::Repository;

/// A repository without a commit.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.git(&["init", "-q"]);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn opened(&self) -> Git {
        let repository = Repository::find(&self.path().canonicalize().unwrap());
        Git::find(&repository.unwrap()).unwrap()
    }

    /// Writes an object, which need not be one that git accepts. Returns its id.
    pub(crate) fn write(&self, kind: &str, content: &[u8]) -> String {
        fs::write(self.path().join("content"), content).unwrap();
        self.git(&["hash-object", "--literally", "-w", "-t", kind, "content"])
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        let ended = command.args(args).current_dir(self.path()).output();
        let ended = ended.unwrap();
        assert!(ended.status.success(), "{args:?}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }
}
