//! Folders that a program may have moved out of the root of another one, which looks at its own root alone when it ends.

use std::io;
use std::path::{Path, PathBuf};

use host::placed;

use super::{Found, Running, RunningPrograms};
use crate::records;

impl RunningPrograms {
    /// Keeps a record of the folders that have changed while a program ran, for a look when all programs of roots below it have ended. Call
    /// it after the program and before the look at its end.
    ///
    /// # Errors
    /// Returns an error if a record cannot be read or written.
    pub(crate) fn put_later(&self, program: &Running) -> io::Result<()> {
        let all = self.all()?;
        let mut inner = all
            .iter()
            .filter(|it| is_inner(it, &program.root))
            .map(|it| &it.1);
        let Some(first) = inner.next().filter(|_| !program.is_later) else {
            return Ok(());
        };
        // With two roots, a folder may have been moved from one into the other. One that was moved itself is another folder.
        let is_only = inner.all(|it| it.root == first.root) && !first.is_gone();
        let only = is_only.then_some(&*first.root);
        let trees = program.trees().map(Path::to_owned);
        let trees = placed::changed(&program.root, trees, program.from, only);
        let is_in = |it: &Running, tree: &PathBuf| it.trees.iter().any(|of| tree.starts_with(of));
        let is_known = |it: &Running| {
            it.is_later && it.root == program.root && trees.iter().all(|tree| is_in(it, tree))
        };
        if trees.is_empty() || all.iter().any(|(_, it, _)| is_known(it)) {
            return Ok(());
        }
        let later = Running {
            trees,
            from: placed::recently(),
            is_later: true,
            process: first.process,
            ..program.clone()
        };
        records::write(&self.new_file(&later), &later)
    }
}

impl Running {
    /// Gives the programs that have ended their lives back while programs run in roots below theirs.
    pub(super) fn revive(all: &mut [Found]) {
        let living = |(_, it, is_alive): &Found| {
            it.is_later && !is_alive && all.iter().any(|other| is_inner(other, &it.root))
        };
        let living: Vec<bool> = all.iter().map(living).collect();
        for ((_, _, is_alive), is_living) in all.iter_mut().zip(living) {
            *is_alive |= is_living;
        }
    }
}

/// Returns true if the program runs in a root below this one.
fn is_inner((_, it, is_alive): &Found, root: &Path) -> bool {
    *is_alive && !it.is_later && it.root != root && it.root.starts_with(root)
}
