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

/// Returns the targets of links with sensitive names, in named files or folders, and in folders to which such links lead, also of those
/// directly in folders around the root and in the home. A target need not exist.
pub(crate) fn targets(root: &Path, around: &[PathBuf], named: &[PathBuf]) -> Vec<PathBuf> {
    let table = SensitivePaths::default();
    // The root itself is no place of its own.
    let inner = |path: &PathBuf| {
        path.canonicalize()
            .ok()
            .filter(|path| !root.starts_with(path))
    };
    let git = Repository::nearest(root).map(|repository| repository.git());
    let of_git = git
        .iter()
        .flat_map(|git| OF_GIT.map(|name| git.join(name)))
        .chain(git.clone());
    let named = named.iter().filter(|path| path.is_absolute()).cloned();
    let protected = of_git.chain(named).filter_map(|path| inner(&path));
    let mut protected: Vec<PathBuf> = protected.collect();
    let elsewhere = [&protected[..], around].concat();
    let mut waiting = list(root, &elsewhere, &table, MAX_ENTRIES);
    let mut targets = Vec::new();
    loop {
        let (found, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|link| {
            let folder = link.parent();
            find(&table, root, link).is_some_and(|(entry, _)| is_sensitive(entry))
                || folder.is_some_and(|folder| is_whole(&table, folder, link))
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
            let is_listed = is_whole(&table, root, &target);
            if !is_listed {
                targets.push(target);
            }
        }
        waiting = others;
    }
}

/// Returns the links among so many entries below a root, and directly in named folders elsewhere.
fn list(root: &Path, named: &[PathBuf], table: &SensitivePaths, most: usize) -> Vec<PathBuf> {
    let elsewhere = named.iter().filter(|folder| !folder.starts_with(root));
    let mut folders: VecDeque<_> = [root.to_owned()]
        .into_iter()
        .chain(elsewhere.cloned())
        .collect();
    let mut links = Vec::new();
    let mut left = most;
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

/// Returns true if an entry matches the path itself, not only paths below it.
fn is_whole(table: &SensitivePaths, root: &Path, path: &Path) -> bool {
    find(table, root, path)
        .is_some_and(|(entry, path)| is_sensitive(entry) && entry.describe(&path) == entry.note)
}

fn is_sensitive(entry: &SensitivePath) -> bool {
    entry.sensitivity >= Sensitivity::RunsByItself
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes links in a folder, and returns where those lead that count, as they are written.
    fn found(links: &[(&str, &str)], named: &[&str], below: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (link, target) in links {
            let link = root.join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            match target.strip_suffix('/') {
                Some("") => fs::create_dir_all(link).unwrap(),
                _ => std::os::unix::fs::symlink(target, link).unwrap(),
            }
        }
        let named: Vec<_> = named.iter().map(|name| root.join(name)).collect();
        // What a relative name leads to depends on the folder of the program.
        let working = std::env::current_dir().unwrap();
        let up: PathBuf = working.components().skip(1).map(|_| "..").collect();
        let relative = [up.join(root.join("src/relative").strip_prefix("/").unwrap())];
        let targets = targets(&root.join(below), &[], &[&relative[..], &named].concat());
        let text = |target: &PathBuf| target.strip_prefix(&root).unwrap().display().to_string();
        let mut targets: Vec<_> = targets.iter().map(text).collect();
        targets.sort();
        targets
    }

    #[test]
    fn links_count_by_their_names_and_by_the_places_around_them() {
        let links = [
            (".envrc", "env/dev"),
            ("a/.vscode", "../ed"),
            ("ed", "/"),
            // A link in a place to which another leads, and so on.
            ("ed/tasks", "../deep"),
            ("deep/inner", "../deeper"),
            ("deep/last/x", "/"),
            ("other/link", "env/dev"),
            (".unknown", "env/dev"),
            ("loop/.envrc", ".envrc"),
        ];
        let expected = ["a/../ed", "deep/../deeper", "ed/../deep", "env/dev"];
        assert_eq!(found(&links, &[], ""), expected);
    }

    #[test]
    fn a_target_with_a_sensitive_name_is_protected_by_it_alone() {
        let links = [
            ("CLAUDE.md", "AGENTS.md"),
            ("AGENTS.md", "notes"),
            ("a/.cursorrules", "../b/CLAUDE.md"),
            ("b", "/"),
            (".git/HEAD", "refs/heads/main"),
            (".git/refs/heads", "/"),
            // On the way to files, where others are free.
            (".vscode", ".github"),
        ];
        assert_eq!(found(&links, &[], ""), [".github", "notes"]);
    }

    #[test]
    fn folders_of_git_count_without_their_data_and_folders_of_dependencies_do_not() {
        let links = [
            (".git/hooks/pre-commit", "../../a"),
            (".git/config", "../b"),
            ("sub/.git/info/attributes", "../../../c"),
            (".git/modules/x/hooks/y", "../../../../d"),
            ("node_modules/x/.envrc", "e"),
            (".cache/x/.envrc", "f"),
            (".config/x/.envrc", "g"),
        ];
        let expected = [
            ".config/x/g",
            ".git/../b",
            ".git/hooks/../../a",
            "sub/.git/info/../../../c",
        ];
        assert_eq!(found(&links, &[], ""), expected);
    }

    #[test]
    fn named_folders_and_the_repository_count_elsewhere_but_not_what_is_around_the_root() {
        let links = [
            (".git/hooks/pre-commit", "../../src/a"),
            (".git/config", "../src/b"),
            (".envrc", "src/c"),
            ("hooks/pre-push", "../src/d"),
            ("hooks/deep/x", "src/e"),
            ("src/checks/x", "f"),
            ("src/free", "g"),
            ("src/relative/x", "h"),
        ];
        let named = ["hooks", "src/checks", "src", "", "src/missing"];
        let expected = [
            ".git/../src/b",
            ".git/hooks/../../src/a",
            "hooks/../src/d",
            "src/checks/f",
        ];
        assert_eq!(found(&links, &named, "src"), expected);
    }

    #[test]
    fn a_walk_ends_after_many_entries_and_has_those_near_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let link = |folder: &str| {
            fs::create_dir_all(root.join(folder)).unwrap();
            std::os::unix::fs::symlink("target", root.join(folder).join(".envrc")).unwrap();
        };
        link("a");
        link("a/b/c");
        for number in 0..10 {
            fs::write(root.join("a/b").join(number.to_string()), "").unwrap();
        }
        let table = SensitivePaths::default();
        assert_eq!(list(&root, &[], &table, 10), [root.join("a/.envrc")]);
        // A deep folder takes no room from the others.
        link("z");
        link("z/b/c");
        let mut links = list(&root, &[], &table, 6);
        links.sort();
        assert_eq!(links, [root.join("a/.envrc"), root.join("z/.envrc")]);
    }
}
