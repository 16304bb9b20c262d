//! [`Repository`]: the repository to which the files of a workspace belong.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// The name of a folder of git.
pub(crate) const GIT: &str = ".git";

/// Files of a folder of git that bring objects, commits or histories from elsewhere.
const FROM_ELSEWHERE: [&str; 5] = [
    "commondir",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "shallow",
];

/// Entries that are folders in a folder of git that is whole.
pub(crate) const FOLDERS: [&str; 2] = ["objects", "refs"];

/// The repository to which the files of a workspace belong.
#[derive(Debug)]
pub(crate) struct Repository {
    /// The folder with the files.
    pub(crate) top: PathBuf,
}

impl Repository {
    /// Finds the repository at or above a folder. Returns `None` if there is none, or if its history may come from elsewhere.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        Self::nearest(folder).filter(Self::is_plain)
    }

    /// Finds the repository at or above a folder, wherever its history comes from.
    pub(crate) fn nearest(folder: &Path) -> Option<Self> {
        Self::around(folder).next()
    }

    /// Finds the repositories at and above a folder, the innermost first. A submodule lies in the files of another one.
    pub(crate) fn around(folder: &Path) -> impl Iterator<Item = Self> {
        let tops = folder
            .ancestors()
            .filter(|folder| folder.join(GIT).symlink_metadata().is_ok());
        tops.map(|top| Self {
            top: top.to_owned(),
        })
    }

    /// Returns the folder of git, or the file that names it.
    pub(crate) fn git(&self) -> PathBuf {
        self.top.join(GIT)
    }

    /// Returns the folder of git, also where a file names it, as in a worktree and after `git init --separate-git-dir`.
    fn folder(&self) -> PathBuf {
        let git = self.git();
        let text = std::fs::read_to_string(&git).unwrap_or_default();
        match text.strip_prefix("gitdir: ") {
            Some(folder) => self.top.join(folder.trim_end()),
            None => git,
        }
    }

    /// Returns the folder of git, and that of the repository to which a worktree belongs, also where git itself finds a fault in them.
    pub(crate) fn folders(&self) -> BTreeSet<PathBuf> {
        let own = self.folder();
        let named = std::fs::read_to_string(own.join("commondir"));
        let named = named.ok().map(|common| own.join(common.trim_end()));
        let outer = own.parent().filter(|above| above.ends_with("worktrees"));
        let outer = outer.and_then(Path::parent).map(Path::to_owned);
        let folders = [own].into_iter().chain(named).chain(outer);
        folders
            .map(|folder| folder.canonicalize().unwrap_or(folder))
            .collect()
    }

    /// Returns true if the repository has all its data in a folder of its own.
    pub(crate) fn is_plain(&self) -> bool {
        let git = self.git();
        let is_folder = |path: PathBuf| {
            path.symlink_metadata()
                .is_ok_and(|metadata| metadata.is_dir())
        };
        let mut absent = FROM_ELSEWHERE.iter().map(|name| git.join(name));
        is_folder(git.clone())
            && FOLDERS.iter().all(|name| is_folder(git.join(name)))
            && absent.all(|path| path.symlink_metadata().is_err())
    }

    /// Returns the path as git writes it, or `None` if it does not lie in the repository or is not plain. The top is empty.
    pub(crate) fn relative(&self, path: &Path) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for component in path.strip_prefix(&self.top).ok()?.components() {
            let Component::Normal(name) = component else {
                return None;
            };
            if !text.is_empty() {
                text.push(b'/');
            }
            text.extend_from_slice(name.as_encoded_bytes());
        }
        Some(text)
    }
}
