//! The files and folders to which protected links lead: a link `.envrc -> env/dev` makes direnv run a file with an ordinary name.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use host::placed::is_left_out;
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};

use crate::repository::{GIT, Repository};

/// The most entries of a walk, those near the root first: it takes about 20 ms for so many.
const MAX_ENTRIES: usize = 20_000;

/// The folders in a folder of git that have no data.
const OF_GIT: [&str; 2] = ["hooks", "info"];

/// Returns the targets of links with sensitive names, in named files or folders, and in folders to which such links lead. A target need not
/// exist.
pub(crate) fn targets(root: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
    let table = SensitivePaths::default();
    // The root itself is no place of its own.
    let inner = |path: &PathBuf| {
        path.canonicalize()
            .ok()
            .filter(|path| !root.starts_with(path))
    };
    let mut protected: Vec<PathBuf> = named
        .iter()
        .filter(|path| path.is_absolute())
        .filter_map(inner)
        .collect();
    let mut waiting = list(root, &protected, &table);
    let mut targets = Vec::new();
    loop {
        let (found, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|link| {
            find(&table, root, link).is_some_and(|(entry, _)| is_sensitive(entry))
                || protected.iter().any(|place| link.starts_with(place))
        });
        if found.is_empty() {
            return targets;
        }
        for link in found {
            let target = fs::read_link(&link).ok();
            let Some(target) = target.and_then(|target| Some(link.parent()?.join(target))) else {
                continue;
            };
            protected.extend(inner(&target));
            // The table protects it anyway, where its own name is granted.
            let is_listed = find(&table, root, &target).is_some_and(|(entry, path)| {
                is_sensitive(entry) && entry.describe(&path) == entry.note()
            });
            if !is_listed {
                targets.push(target);
            }
        }
        waiting = others;
    }
}

/// Returns the links below a root, in the folder of its repository, and directly in named folders elsewhere.
fn list(root: &Path, named: &[PathBuf], table: &SensitivePaths) -> Vec<PathBuf> {
    let git = Repository::nearest(root).map(|repository| repository.git());
    let of_git = git.iter().flat_map(|git| OF_GIT.map(|name| git.join(name)));
    let elsewhere = of_git.chain(git.clone()).chain(named.iter().cloned());
    let elsewhere = elsewhere.filter(|folder| !folder.starts_with(root));
    let mut folders: VecDeque<_> = [root.to_owned()].into_iter().chain(elsewhere).collect();
    let (mut links, mut left) = (Vec::new(), MAX_ENTRIES);
    while let Some(folder) = folders.pop_front() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries.take(left) {
            left -= 1;
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => links.push(path),
                Ok(kind) if kind.is_dir() && path.starts_with(root) => {
                    let name = entry.file_name();
                    let is_data = folder.ends_with(GIT) && !OF_GIT.iter().any(|one| name == **one);
                    // The table has all dot folders except for caches.
                    let is_dot = name.as_encoded_bytes().starts_with(b".");
                    let is_cache = is_dot && find(table, root, &path).is_none();
                    if !is_data && !is_cache && !is_left_out(&name) {
                        folders.push_back(path);
                    }
                }
                _ => {}
            }
        }
    }
    links
}

/// Returns the entry of a path below the root, and its path there, without links on the way to it.
fn find<'a>(
    table: &'a SensitivePaths,
    root: &Path,
    path: &Path,
) -> Option<(&'a SensitivePath, String)> {
    let path = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    let below = path.strip_prefix(root).ok()?.to_string_lossy().into_owned();
    Some((table.find(&below)?, below))
}

fn is_sensitive(entry: &SensitivePath) -> bool {
    entry.sensitivity() >= Sensitivity::RunsByItself
}
