//! Refuses calls that would hide what a running program plants from the look at its end.

use std::io;
use std::path::{Path, PathBuf};

use host::placed::{self, FolderId, Folders};

use super::{Record, Running, RunningPrograms};

/// The error of a call that must wait for the end of a running program.
#[derive(Debug, thiserror::Error)]
#[error(
    "a folder of {} was moved, or would be, out of the sight of a program that the session in process {process} runs there; try again \
     when it has ended",
    root.display()
)]
struct OutOfSight {
    root: PathBuf,
    process: u32,
}

impl RunningPrograms {
    /// Refuses the start of a program in a root from or to which a folder of a running program was moved.
    ///
    /// # Errors
    /// Returns an error if it must wait, or if the record of a running program cannot be read.
    pub(crate) fn check_start(&self, root: &Path) -> io::Result<()> {
        self.refuse(|it| it.program.is_displaced_in(root, &it.folders))
    }

    /// Refuses a move of a folder that a running program may write to a place at which its end does not look.
    ///
    /// # Errors
    /// Returns an error as [`check_start`](Self::check_start) does.
    pub(crate) fn check_move(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.refuse(|it| it.program.loses(from, to, &it.folders))
    }

    fn refuse(&self, is_it: impl Fn(&Record) -> bool) -> io::Result<()> {
        let mut all = self.all()?.into_iter();
        let found = all.find(|it| it.is_alive && is_it(it));
        found.map_or(Ok(()), |it| {
            let Running { root, process, .. } = it.program;
            Err(io::Error::other(OutOfSight { root, process }))
        })
    }
}

impl Running {
    /// Returns true if its root was moved from or to this root, or another folder to a place in this root at which its end does not look.
    fn is_displaced_in(&self, root: &Path, folders: &Folders) -> bool {
        let is_near = self.root.starts_with(root) || root.starts_with(&self.root);
        let is_seen = self.looks_at(root);
        let around = FolderId::around(root);
        let mut folders = folders.clone();
        // The others of a program far away would cost a search whenever it has removed one.
        folders
            .retain(|id, path| *path == self.root || !is_seen && (is_near || around.contains(id)));
        let moved = placed::find_moved(&folders);
        if is_near && self.is_root_in(&moved) {
            return true;
        }
        if is_seen {
            return false;
        }
        let found = placed::find(root, &moved.into_keys().collect());
        found.values().any(|place| !self.looks_at(place))
    }

    /// Returns true if it may write a folder, and its end does not look at the place to which the folder is moved.
    fn loses(&self, from: &Path, to: &Path, folders: &Folders) -> bool {
        let moved = placed::find_moved(folders);
        let mut trees = self.trees();
        let may_write = trees.any(|tree| from.starts_with(tree) || tree.starts_with(from))
            || FolderId::around(from)
                .iter()
                .any(|id| moved.contains_key(id));
        may_write && (self.is_root_in(&moved) || !self.looks_at(to))
    }

    /// Returns true if the look at its end covers a path, while the root is where it was.
    fn looks_at(&self, path: &Path) -> bool {
        self.trees().any(|tree| path.starts_with(tree))
    }

    fn is_root_in(&self, moved: &Folders) -> bool {
        moved.values().any(|path| *path == self.root)
    }
}
