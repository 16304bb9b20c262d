//! The changes between two looks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::found::Found;
use super::{Look, Protected};

impl Protected {
    /// Returns the paths that are new, changed or gone since, without those below another one.
    pub(crate) fn changed_since<'a>(&'a self, before: &'a Self) -> Vec<&'a Path> {
        let mut all: BTreeSet<&PathBuf> = self.found.keys().chain(before.found.keys()).collect();
        let stamp = |found: &Found| found.stamp;
        all.retain(|path| self.found.get(*path).map(stamp) != before.found.get(*path).map(stamp));
        without_inner(all.into_iter().map(PathBuf::as_path))
    }

    /// Returns the paths that a program must not leave behind: those that count, are new or changed since, and are not harmless.
    pub(crate) fn planted_since<'a>(&'a self, before: &Self, look: &Look) -> Vec<&'a Path> {
        let mut fine: Option<&Path> = None;
        let mut planted: Vec<&Path> = Vec::new();
        for (path, found) in self.found.iter().filter(|(_, found)| found.counts) {
            if found.git.is_some() && fine.as_ref().is_some_and(|above| path.starts_with(above))
                || planted.last().is_some_and(|last| path.starts_with(last))
            {
                continue;
            }
            let former = before.found.get(path).filter(|former| !former.is_suspect);
            let is_same = former.is_some_and(|former| {
                let content = former.former.as_ref();
                !former.counts
                    || former.stamp == found.stamp
                    // Behind walls that keep it, only others can have changed it.
                    || former.is_safe
                    || content.is_some_and(|content| content.is_at(path))
            });
            if is_same {
                continue;
            }
            if look.is_checked_out(path, before) || former.is_none() && look.is_alias(path, before)
            {
                continue;
            }
            if !look.is_harmless(path, found, former) {
                planted.push(path);
            } else if found.git.is_some() {
                // All of a harmless repository is.
                fine = Some(path);
            }
        }
        planted
    }

    /// Returns the files that got another name since. Who may write that may write the file.
    pub(crate) fn linked_since(&self, before: &Self) -> impl Iterator<Item = &Path> {
        let linked = self.linked.iter().filter(|path| {
            let names = |all: &Self| all.found.get(*path).map(|found| found.names);
            names(before).is_none_or(|former| names(self).is_none_or(|now| now > former))
        });
        linked.map(PathBuf::as_path)
    }

    /// Returns the objects of git that have another name, as those of a local clone have.
    pub(crate) fn linked_objects(&self) -> impl Iterator<Item = &Path> {
        self.linked_objects.iter().map(PathBuf::as_path)
    }

    /// Returns the folders of git that were not there before.
    pub(crate) fn repositories_since(&self, before: &Self) -> impl Iterator<Item = &Path> {
        self.found
            .iter()
            .filter(|(path, found)| {
                found.git.is_some() && found.is_folder() && !before.found.contains_key(*path)
            })
            .map(|(path, _)| path.as_path())
    }

    /// Returns the files that no clause names and that a program can remove.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = &Path> {
        let guarded = self
            .found
            .iter()
            .filter(|(_, found)| found.is_guarded && found.stamp.is_some() && !found.is_suspect);
        guarded.map(|(path, _)| path.as_path())
    }
}

/// Returns the paths without those below another one.
fn without_inner<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<&'a Path> {
    let mut outer: Vec<&Path> = Vec::new();
    for path in paths {
        if outer.last().is_none_or(|last| !path.starts_with(last)) {
            outer.push(path);
        }
    }
    outer
}
