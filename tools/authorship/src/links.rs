//! The files and folders to which protected links lead: a link `.envrc -> env/dev` makes direnv run a file with an ordinary name.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use host::placed::is_left_out;
use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};

use crate::repository::{GIT, Repository};

/// The most entries of a walk below the root, those near it first, and of each folder elsewhere: it takes about 0.2 s for so many. No
/// program starts in a workspace that has more of them, folders of dependencies apart.
const MAX_ENTRIES: usize = 200_000;

const HOOKS: &str = "hooks";

/// The folders in a folder of git that have no data.
const OF_GIT: [&str; 2] = [HOOKS, "info"];

/// The places, besides those below the root, whose links count.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Folders around the root, and the home, in which links count by their names.
    pub(crate) around: Vec<PathBuf>,
    /// Files, and folders of which each file is run or obeyed.
    pub(crate) named: Vec<PathBuf>,
    /// Folders of the `PATH`. A program there may be built, so a link to a build output does not count.
    pub(crate) programs: Vec<PathBuf>,
}

/// The targets of links, and whether there were too many files to find all.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) paths: BTreeSet<PathBuf>,
    pub(crate) is_cut: bool,
}

impl Targets {
    /// Finds the targets of links with sensitive names, in the places, and in folders to which such links lead. A target need not exist.
    pub(crate) fn find(root: &Path, places: &Places) -> Self {
        Self::find_among(root, places, MAX_ENTRIES)
    }

    fn find_among(root: &Path, places: &Places, most: usize) -> Self {
        let table = SensitivePaths::default();
        // The root itself is no place of its own.
        let inner = |path: &PathBuf| {
            path.canonicalize()
                .ok()
                .filter(|path| !root.starts_with(path))
        };
        let git = Repository::nearest(root).map_or_else(BTreeSet::new, |it| it.folders());
        let of_git = git
            .iter()
            .flat_map(|git| OF_GIT.map(|name| git.join(name)))
            .chain(git.iter().cloned());
        let named = places.named.iter().filter(|path| path.is_absolute());
        let named = of_git.chain(named.cloned());
        let mut protected: Vec<PathBuf> = named.filter_map(|path| inner(&path)).collect();
        let programs: Vec<_> = places.programs.iter().filter_map(inner).collect();
        // A template of repositories has its hooks one folder deeper.
        let hooks: Vec<_> = protected.iter().map(|place| place.join(HOOKS)).collect();
        let elsewhere = [&protected[..], &hooks, &places.around, &programs].concat();
        let (mut waiting, is_cut) = list(root, &elsewhere, &table, most);
        let mut paths = BTreeSet::new();
        loop {
            let (found, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|link| {
                let folder = link.parent();
                find(&table, root, link).is_some_and(|(entry, _)| is_sensitive(entry))
                    || folder.is_some_and(|folder| is_whole(&table, folder, link))
                    || protected.iter().any(|place| link.starts_with(place))
                    || programs.iter().any(|place| folder == Some(place.as_path()))
                        && !is_built(link)
            });
            if found.is_empty() {
                return Self { paths, is_cut };
            }
            for link in found {
                let Some(target) = target_of(&link) else {
                    continue;
                };
                protected.extend(inner(&target));
                // The table protects it anyway, where its own name is granted.
                let is_listed = is_whole(&table, root, &target);
                if !is_listed {
                    paths.insert(target);
                }
            }
            waiting = others.into_iter().collect();
        }
    }
}

fn target_of(link: &Path) -> Option<PathBuf> {
    Some(link.parent()?.join(fs::read_link(link).ok()?))
}

/// Returns true for a link to a file in a folder of dependencies or build outputs.
fn is_built(link: &Path) -> bool {
    let real = |path: &Path| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let target = target_of(link).and_then(|target| real(&target));
    let end = link.canonicalize().ok();
    let mut paths = target.iter().chain(&end);
    paths.any(|path| path.iter().any(is_left_out))
}

/// Returns the links directly in folders elsewhere, and among so many entries below a root. Returns true if one had more.
fn list(
    root: &Path,
    elsewhere: &[PathBuf],
    table: &SensitivePaths,
    most: usize,
) -> (BTreeSet<PathBuf>, bool) {
    let mut links = BTreeSet::new();
    let mut is_cut = false;
    // Files below the root take no room of these.
    for folder in elsewhere {
        let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let first = entries.by_ref().take(most);
        let found = first.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        links.extend(found.map(|entry| entry.path()));
        is_cut |= entries.next().is_some();
    }
    let mut folders = VecDeque::from([root.to_owned()]);
    let mut left = most;
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else {
                return (links, true);
            };
            left = rest;
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    links.insert(path);
                }
                Ok(kind) if kind.is_dir() => {
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
    (links, is_cut)
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
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes links in a folder, and returns where those lead that count, as they are written.
    fn found(
        links: &[(&str, &str)],
        named: &[&str],
        programs: &[&str],
        below: &str,
    ) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (link, target) in links {
            let link = root.join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            match target.strip_suffix('/') {
                Some("") => fs::create_dir_all(link).unwrap(),
                _ => symlink(target, link).unwrap(),
            }
        }
        let named: Vec<_> = named.iter().map(|name| root.join(name)).collect();
        // What a relative name leads to depends on the folder of the program.
        let working = std::env::current_dir().unwrap();
        let up: PathBuf = working.components().skip(1).map(|_| "..").collect();
        let relative = [up.join(root.join("src/relative").strip_prefix("/").unwrap())];
        let places = Places {
            named: [&relative[..], &named].concat(),
            programs: programs.iter().map(|name| root.join(name)).collect(),
            ..Places::default()
        };
        let text = |target: &PathBuf| target.strip_prefix(&root).unwrap().display().to_string();
        let targets = Targets::find(&root.join(below), &places);
        assert!(!targets.is_cut);
        targets.paths.iter().map(text).collect()
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
        assert_eq!(found(&links, &[], &[], ""), expected);
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
        assert_eq!(found(&links, &[], &[], ""), [".github", "notes"]);
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
        assert_eq!(found(&links, &[], &[], ""), expected);
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
            ("template/hooks/pre-push", "../../src/i"),
        ];
        let named = ["hooks", "src/checks", "src", "", "src/missing", "template"];
        let expected = [
            ".git/../src/b",
            ".git/hooks/../../src/a",
            "hooks/../src/d",
            "src/checks/f",
            "template/hooks/../../src/i",
        ];
        assert_eq!(found(&links, &named, &[], "src"), expected);
    }

    #[test]
    fn the_folder_of_git_counts_wherever_a_file_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("meta/hooks")).unwrap();
        fs::write(root.join(".git"), "gitdir: meta\n").unwrap();
        symlink("../../scripts/hook", root.join("meta/hooks/pre-commit")).unwrap();
        symlink("../dot/config", root.join("meta/config.worktree")).unwrap();
        let targets = Targets::find(&root, &Places::default()).paths;
        let expected = ["meta/../dot/config", "meta/hooks/../../scripts/hook"];
        assert_eq!(
            targets,
            BTreeSet::from(expected.map(|path| root.join(path)))
        );
    }

    #[test]
    fn the_hooks_of_a_repository_count_in_its_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in [".bare/hooks", ".bare/worktrees/w"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join(".git"), "gitdir: .bare/worktrees/w\n").unwrap();
        symlink("../../scripts/hook", root.join(".bare/hooks/pre-commit")).unwrap();
        let targets = Targets::find(&root, &Places::default()).paths;
        let target = root.join(".bare/hooks/../../scripts/hook");
        assert_eq!(targets, BTreeSet::from([target]));
    }

    #[test]
    fn links_of_programs_count_except_for_those_to_outputs() {
        let links = [
            ("bin/tool", "../src/tool.sh"),
            ("bin/built", "../target/release/built"),
            ("bin/indirect", "../src/to-built"),
            ("src/to-built", "../target/release/built"),
            ("target/release/built", "/"),
            (".venv/bin/own", "../../scripts/own"),
            (".venv/bin/python3", "python"),
            ("other/bin/tool", "../../src/other"),
        ];
        let expected = [".venv/bin/../../scripts/own", "bin/../src/tool.sh"];
        assert_eq!(
            found(&links, &[], &["bin", ".venv/bin", "missing"], ""),
            expected
        );
    }

    #[test]
    fn many_files_below_the_root_hide_no_link_elsewhere_and_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("w");
        let link = |folder: &str, target: &str| {
            fs::create_dir_all(root.join(folder)).unwrap();
            symlink(target, root.join(folder).join(".envrc")).unwrap();
        };
        link("a", "env");
        link("a/b/c", "env");
        link(".git/hooks", "../../hook");
        link("..", "env");
        fs::create_dir(root.join(".git/objects")).unwrap();
        for number in 0..20 {
            fs::write(root.join("a/b").join(number.to_string()), "").unwrap();
        }
        let places = Places {
            around: vec![root.parent().unwrap().to_owned()],
            ..Places::default()
        };
        let found = |most| {
            let targets = Targets::find_among(&root, &places, most);
            let paths = targets.paths.iter();
            let paths = paths.map(|path| path.strip_prefix(dir.path().canonicalize().unwrap()));
            let paths = paths.map(|path| path.unwrap().display().to_string());
            (paths.collect::<Vec<_>>(), targets.is_cut)
        };
        let near = ["env", "w/.git/hooks/../../hook", "w/a/env"].map(str::to_owned);
        // Those near the root come first.
        assert_eq!(found(10), (near.to_vec(), true));
        let [first, second, third] = near;
        let all = vec![first, second, "w/a/b/c/env".to_owned(), third];
        assert_eq!(found(100), (all, false));
        // So it is with a folder elsewhere, which here has more than the root.
        for number in 0..100 {
            fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        assert!(found(50).1 && !found(200).1);
    }
}
