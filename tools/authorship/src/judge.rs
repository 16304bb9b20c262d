//! [`Authorship`]: tells the files that the user wrote from those of strangers.
//!
//! A file is the user's if it is committed in the repository of the root as it is, and each commit that brought this content has the
//! user's address as its author and committer. A [`Mark`](mark) says that a session may have forged commits.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tools::context::{FileAuthors, FileJudge, WriteWatch};
use tools::{IgnorePoison as _, Services};

use crate::committed::Committed;
use crate::git::Git;
use crate::mark::Marks;
use crate::repository::Repository;
use crate::running::Running;
use crate::watch::{Watch, settle_lost};
use crate::written::Written;
use crate::{content, walk};

/// Names of folders and files that tools make, and that no text can hide in.
const KNOWN_NAMES: [&str; 16] = [
    ".DS_Store",
    ".git",
    ".idea",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    ".vscode",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "out",
    "target",
    "toolcrib.toml",
    "venv",
];

/// Adds the judge of the files in a workspace, whose path has no links. Settles the programs of sessions that have died.
pub(crate) fn insert(services: &mut Services, root: &Path) {
    let judge = Authorship {
        root: root.to_owned(),
        marks: Marks::own(),
        latest: Mutex::default(),
    };
    // A program that cannot be settled is lost.
    judge
        .marks
        .iter()
        .for_each(|marks| drop(settle_lost(marks)));
    services.insert(FileAuthors::new(judge));
}

/// The judge of the files in a workspace.
struct Authorship {
    root: PathBuf,
    /// `None` without a state folder: then no file is the user's.
    marks: Option<Marks>,
    /// The commit that was read last, and its files. `None` instead of files if there is too much to read.
    latest: Mutex<Option<(String, Option<Arc<Committed>>)>>,
}

impl Authorship {
    /// Returns true if `check` does, and if nobody may have forged what it reads. Returns `None` if there is nothing to read.
    fn judge(&self, check: impl FnOnce(&Repository, &Committed) -> bool) -> Option<bool> {
        let marks = self.marks.as_ref()?;
        // The session of another program may have died. One that cannot be settled is lost.
        let _ = settle_lost(marks);
        let repository = Repository::find(&self.root)?;
        let committed = self.read_committed(&Git::find(&repository)?)?;
        let is_checked = check(&repository, &committed) && repository.is_plain();
        // A program may still run, so the marks are looked at last.
        Some(is_checked && !marks.is_marked(&repository))
    }

    fn read_committed(&self, git: &Git) -> Option<Arc<Committed>> {
        let head = git.head()?;
        let mut latest = self.latest.lock().ignore_poison();
        if let Some((_, committed)) = latest.as_ref().filter(|(of, _)| *of == head) {
            return committed.clone();
        }
        let left_out = self.marks.as_ref()?.left_out().ok()?;
        let committed = git
            .user(&self.root)
            .and_then(|user| Committed::read(git, &head, &user, &left_out))
            .map(Arc::new);
        *latest = Some((head, committed.clone()));
        committed
    }
}

impl FileJudge for Authorship {
    fn is_content_of_user(&self, paths: &[PathBuf]) -> bool {
        if paths.is_empty() {
            return true;
        }
        // The folder of git has the texts of all commits and branches. This saves a look at them.
        let Some(git) = Repository::find(&self.root).map(|repository| repository.git()) else {
            return false;
        };
        if paths.iter().any(|path| git.starts_with(path)) {
            return false;
        }
        self.judge(|repository, committed| {
            let files = walk::files(repository, committed, paths);
            files.is_some_and(|files| content::is_committed(&files))
        }) == Some(true)
    }

    fn is_name_of_user(&self, paths: &[PathBuf]) -> bool {
        // A known name in a folder of a stranger shows the name of that folder.
        let unknown: Vec<&Path> = paths
            .iter()
            .map(|path| {
                let name = path.file_name();
                if name.is_some_and(|name| KNOWN_NAMES.iter().any(|known| name == *known)) {
                    path.parent().unwrap_or(path)
                } else {
                    path
                }
            })
            .collect();
        if unknown.iter().all(|path| self.root.starts_with(path)) {
            return true;
        }
        self.judge(|repository, committed| {
            unknown.iter().all(|path| {
                repository
                    .relative(path)
                    .is_some_and(|path| committed.has_name(&path))
            })
        }) == Some(true)
    }

    fn note_write(&self, path: &Path) -> io::Result<()> {
        Written::own().map_or(Ok(()), |written| written.note_write(&self.root, path))?;
        self.marks
            .as_ref()
            .map_or(Ok(()), |marks| marks.note_write(&self.root, path))
    }

    fn note_move(&self, from: &Path, to: &Path) -> io::Result<()> {
        let marks = self.marks.as_ref();
        marks.map_or(Ok(()), |marks| marks.programs.check_move(from, to))?;
        // The folders in it get other paths.
        self.note_write(&self.root)
    }

    fn watch_writes(&self, trees: &[PathBuf], kept: &[PathBuf]) -> io::Result<WriteWatch> {
        let program = Running::new(&self.root, trees, kept);
        let watch = self.marks.as_ref().map(|marks| {
            marks.programs.check_start(&self.root)?;
            Watch::begin(marks, program)
        });
        Ok(Box::new(watch.transpose()?))
    }
}

#[cfg(all(test, unix))]
mod tests;
