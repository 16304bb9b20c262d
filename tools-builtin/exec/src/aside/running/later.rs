//! Folders that a program may have moved out of the root of another one, which looks at its own root alone when it ends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host::placed::{self, FolderId, Folders};

use super::super::carry::create_file;
use super::{Before, Left, absolute};
use crate::protected::Tree;

/// The root of a running program, and true if it was moved.
pub(super) type Running = (PathBuf, bool);

impl Left {
    /// Returns the roots of the programs that run.
    pub(super) fn running(records: &[Self]) -> Vec<Running> {
        let running = records
            .iter()
            .filter(|left| !left.is_over && !left.before.is_later);
        let of = |left: &Self| {
            let root = left.before.root.as_path().to_owned();
            let is_moved = left.moved.values().any(|path| *path == root);
            (root, is_moved)
        };
        running.map(of).collect()
    }

    /// Returns true if programs in roots below still write the folders that an ended program has changed.
    pub(super) fn is_awaited(&self, running: &[Running]) -> bool {
        self.before.is_later && inner(self.before.root.as_path(), running).next().is_some()
    }

    /// Keeps a record of the folders that have changed while the program ran, for a look when all programs of roots below it have ended.
    /// Call it after the program and before the look at its end.
    pub(super) fn put_later(&self, all: &[Self], running: &[Running]) -> io::Result<()> {
        let root = self.before.root.as_path();
        let mut inner = inner(root, running);
        let Some((first, is_moved)) = inner.next().filter(|_| !self.before.is_later) else {
            return Ok(());
        };
        // With two roots, a folder may have been moved from one into the other. One that was moved itself is another folder.
        let only = (!is_moved && inner.all(|(other, _)| other == first)).then_some(&**first);
        let trees = self.before.trees.iter().map(|tree| absolute(root, tree));
        let folders = placed::changed(root, trees, self.before.from, only);
        let is_in = |path: &Path, of: &Before| {
            let mut trees = of.trees.iter().map(|tree| absolute(root, tree));
            trees.any(|tree| path.starts_with(tree))
        };
        let is_known = |left: &Self| {
            let before = &left.before;
            before.is_later
                && before.root.as_path() == root
                && folders.iter().all(|folder| is_in(folder, before))
        };
        if folders.is_empty() || all.iter().any(is_known) {
            return Ok(());
        }
        let trees = folders.iter().map(|folder| {
            let below = folder
                .strip_prefix(root)
                .unwrap_or(folder)
                .to_string_lossy();
            let below = Some(below.into_owned()).filter(|below| !below.is_empty());
            let path = below.unwrap_or_else(|| ".".to_owned());
            Tree {
                path,
                is_tree: true,
            }
        });
        let mut later = Before {
            trees: trees.collect(),
            is_later: true,
            only: Vec::new(),
            ..self.before.clone()
        };
        let found = self.before.found.iter();
        let found = found.filter(|(path, _)| is_in(path.as_path(), &later));
        later.found = found.cloned().collect();
        let places = folders.iter().map(PathBuf::as_path).chain([root]);
        let numbers = places.filter_map(|path| Some((FolderId::of(path)?, path.to_owned())));
        let text = placed::lines(&later, &Folders::from_iter(numbers))?;
        let (new, path) = (
            self.path.with_extension("draft"),
            self.path.with_extension("later.json"),
        );
        let _ = fs::remove_file(&new);
        create_file(&new, &text)?;
        fs::rename(new, path)
    }
}

/// Returns those of the programs that run in roots below this one.
fn inner<'a>(root: &'a Path, running: &'a [Running]) -> impl Iterator<Item = &'a Running> {
    running
        .iter()
        .filter(move |(other, _)| other != root && other.starts_with(root))
}
