//! The files of git: its data, and the parts of a repository by which it runs nothing.

mod index;
mod own;
mod settings;

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use tools_workspace::is_repository_data;

pub(super) use self::index::is_unchanged;
pub(crate) use self::own::author_settings;
use crate::command::has_word;
use settings::{is_harmless as are_harmless_settings, redirects};

/// The most entries of a new repository that are looked at. One with more counts.
const MAX_ENTRIES: usize = 20_000;

/// The most bytes of a file of git that is read.
const MAX_BYTES: u64 = 256 * 1024;

/// The folders of git in which nothing makes it run something, and that can be large.
const DATA_OF_GIT: [&str; 3] = ["logs", "objects", "refs"];

/// The first words of lines of a rebase that run no program.
const STEPS: &str =
    "# noop pick p reword r edit e squash s fixup f drop d break b label reset update-ref";

/// The ways to merge that are a part of git. Another name would be that of a program.
const STRATEGIES: [&str; 6] = ["ort", "octopus", "ours", "recursive", "resolve", "subtree"];

/// Returns the number of names up to the first folder of git on the path. Returns `None` if there is none.
pub(crate) fn depth(path: &str) -> Option<usize> {
    let at = path.split('/').position(|name| {
        let mut folders = [".git", ".bare"].iter();
        folders.any(|git| name.eq_ignore_ascii_case(git))
    });
    at.map(|at| at + 1)
}

/// Returns the number of names of a path below the root.
pub(crate) fn count(path: &str) -> usize {
    path.split('/').filter(|name| *name != ".").count()
}

/// Returns true if git writes the path at each commit or fetch. The depth is that of its folder of git.
pub(crate) fn is_data(path: &str, depth: usize) -> bool {
    let names: Vec<&str> = path.split('/').skip(depth).collect();
    !names.is_empty() && is_repository_data(&names)
}

/// Returns true if git obeys the file at each command, and removes it by none that a session needs. The depth is that of its folder of git.
pub(crate) fn is_lasting(path: &str, depth: usize) -> bool {
    let names: Vec<&str> = path.split('/').skip(depth).collect();
    match names[..] {
        ["config" | "config.worktree"] | ["modules", .., "config"] => true,
        ["info", "attributes" | "sparse-checkout"] => true,
        ["hooks", .., hook] => !hook.ends_with(".sample"),
        _ => false,
    }
}

/// Returns true if a new repository runs nothing: git made it by `init` or `clone`, and all of its parts are [harmless](is_harmless).
/// None is that takes the place of another one, because commits in its folder go elsewhere then. The path is that of its folder, or of a
/// file that leads to the folder of a submodule or a worktree.
pub(crate) fn is_harmless_repository(path: &Path, root: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return false;
    };
    let is_inner = path.file_name().and_then(|name| depth(name.to_str()?));
    let top = path.parent().filter(|_| is_inner.is_some());
    if index::is_tracked(top.unwrap_or(path)) {
        return false;
    }
    if metadata.is_file() {
        return linked_folder(path, root).is_some_and(|(folder, mut names)| {
            if names[0] == "modules" {
                is_harmless_repository(&folder, root)
            } else {
                // Without this file, git takes its settings from there.
                folder.join("commondir").is_file()
                    && are_harmless(&folder, &mut names, &mut MAX_ENTRIES.clone())
            }
        });
    }
    let is_folder =
        |name: &str| fs::symlink_metadata(path.join(name)).is_ok_and(|metadata| metadata.is_dir());
    metadata.is_dir()
        && text(&path.join("HEAD")).is_some_and(|text| {
            let is_hash =
                text.trim().chars().all(|c| c.is_ascii_hexdigit()) && text.trim().len() >= 40;
            text.starts_with("ref: refs/") || is_hash
        })
        && text(&path.join("config")).is_some()
        && is_folder("objects")
        && is_folder("refs")
        && fs::symlink_metadata(path.join("objects/info/alternates")).is_err()
        && are_harmless(path, &mut Vec::new(), &mut MAX_ENTRIES.clone())
}

/// Returns true if git runs nothing because of the file or folder, which has these names below a folder of git. `former` is the
/// text that it had before. In a workspace with this root, settings that send commits elsewhere count, too.
pub(crate) fn is_harmless(
    path: &Path,
    names: &[&str],
    former: Option<&str>,
    root: Option<&Path>,
) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return true;
    };
    if metadata.is_dir() {
        // What the file said is gone.
        if former.is_some() {
            return false;
        }
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        return are_harmless(path, &mut names, &mut MAX_ENTRIES.clone());
    }
    is_harmless_file(path, &metadata, names, former, root)
}

fn are_harmless(folder: &Path, names: &mut Vec<String>, left: &mut usize) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let Some(rest) = left.checked_sub(1) else {
            return false;
        };
        *left = rest;
        let path = entry.path();
        let name = entry.file_name();
        let (Ok(metadata), Some(name)) = (fs::symlink_metadata(&path), name.to_str()) else {
            return false;
        };
        names.push(name.to_owned());
        let is_fine = if metadata.is_dir() {
            if names.len() == 1 && DATA_OF_GIT.contains(&name) {
                has_no_links(&path)
            } else {
                are_harmless(&path, names, left)
            }
        } else {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            is_harmless_file(&path, &metadata, &names, None, None)
        };
        names.pop();
        if !is_fine {
            return false;
        }
    }
    true
}

/// Returns true if a folder of data has no links. What lies behind one, git writes where later programs may write.
fn has_no_links(folder: &Path) -> bool {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            return false;
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                Ok((kind, path)) if kind.is_dir() => waiting.push(path),
                Ok((kind, _)) if kind.is_file() => {}
                _ => return false,
            }
        }
    }
    true
}

fn is_harmless_file(
    path: &Path,
    metadata: &Metadata,
    names: &[&str],
    former: Option<&str>,
    root: Option<&Path>,
) -> bool {
    let Some((last, above)) = names.split_last() else {
        return false;
    };
    // Who may write another name of the file may write it.
    if !metadata.is_file() || metadata.nlink() > 1 && !is_repository_data(names) {
        return false;
    }
    if above.contains(&"hooks") {
        return last.ends_with(".sample");
    }
    let lines_are =
        |is_fine: fn(&str) -> bool| text(path).is_some_and(|text| text.lines().all(is_fine));
    match *last {
        "config" | "config.worktree" => {
            // Settings of a worktree add to those of its repository.
            let former = former.or((*last == "config.worktree").then_some(""));
            let is_module = above.first() == Some(&"modules");
            text(path).is_some_and(|text| {
                are_harmless_settings(&text, former, is_module)
                    && former.zip(root).is_none_or(|(former, root)| {
                        let modules = path.ancestors().nth(2).map(|top| top.join(".gitmodules"));
                        let modules = modules
                            .and_then(|path| self::text(&path))
                            .unwrap_or_default();
                        !redirects(former, &text, &own::settings(root), &modules)
                    })
            })
        }
        "git-rebase-todo" => lines_are(|line| {
            let first = line.split_whitespace().next().unwrap_or_default();
            first.is_empty() || first.starts_with('#') || has_word(STEPS, first)
        }),
        "strategy" => lines_are(|line| STRATEGIES.contains(&line.trim())),
        // The patterns decide which files the next checkout removes.
        "sparse-checkout" if above.ends_with(&["info"]) => former.is_some() && root.is_none(),
        // A worktree has the settings of its repository, and names its place.
        "commondir" if matches!(above, ["worktrees", _]) => lines_are(|line| line == "../.."),
        "gitdir" if matches!(above, ["worktrees", _]) => lines_are(|line| line.ends_with("/.git")),
        _ => is_repository_data(names),
    }
}

/// Returns the folder of the submodule or worktree to which a file `.git` leads, in a repository of the workspace, and its names below the
/// folder of git.
fn linked_folder(file: &Path, root: &Path) -> Option<(PathBuf, Vec<String>)> {
    let text = text(file)?;
    let target = Path::new(text.strip_prefix("gitdir: ")?.trim_end_matches('\n'));
    let mut folder = file.parent()?.to_owned();
    for part in target.components() {
        match part {
            Component::ParentDir => folder = folder.parent()?.to_owned(),
            Component::Normal(name) => folder.push(name),
            Component::RootDir => folder = PathBuf::from("/"),
            _ => {}
        }
    }
    let below = folder.strip_prefix(root).ok()?;
    let is_link =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if folder
        .ancestors()
        .take_while(|path| *path != root)
        .any(is_link)
    {
        return None;
    }
    let below = below.to_str()?;
    let names: Vec<_> = below
        .split('/')
        .skip(depth(below)?)
        .map(str::to_owned)
        .collect();
    let is_linked = match names.first().map(String::as_str) {
        Some("modules") => names.len() > 1,
        Some("worktrees") => names.len() == 2,
        _ => false,
    };
    is_linked.then_some((folder, names))
}

/// Returns the text of a small regular file.
fn text(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= MAX_BYTES).then(|| fs::read_to_string(path).ok())?
}

/// Returns true for a file that makes git take its folder for a repository.
pub(super) fn is_head(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case("HEAD"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_data_by_name(path: &str) -> bool {
        depth(path).is_some_and(|depth| is_data(path, depth))
    }

    #[test]
    fn the_settings_of_a_repository_are_told_from_its_data() {
        for setting in [
            ".git/config",
            ".git/hooks/a",
            ".git/remotes/origin",
            ".git/branches/a",
            ".git/rebase-merge/strategy",
            ".git/rebase-merge/autostash",
            ".git/MERGE_AUTOSTASH",
            ".git/rebase-merge/strategy_opts",
            ".git/sequencer/opts",
            ".git/modules/a/remotes/origin",
            ".git",
            ".git/hooks/refs",
            ".git/objects/info/alternates",
            ".GIT/config",
            "a/.bare/config",
            "refs/config",
        ] {
            assert!(!is_data_by_name(setting), "{setting}");
        }
        for data in [
            ".git/index",
            ".git/objects/ab/cd",
            ".git/refs/remotes/origin/main",
            ".git/refs/heads/hooks",
            ".git/logs/refs/remotes/origin/main",
            ".git/modules/a/refs/remotes/origin/main",
            ".git/modules/a/logs/refs/remotes/origin/main",
            ".git/sequencer/head",
            ".GIT/index",
            "a/.bare/index",
        ] {
            assert!(is_data_by_name(data), "{data}");
        }
    }

    /// Writes the parts of a repository that runs nothing.
    fn create_repository(folder: &Path) {
        for inner in ["objects", "refs", "hooks"] {
            fs::create_dir_all(folder.join(inner)).unwrap();
        }
        fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(folder.join("config"), "[core]\n\tbare = false\n").unwrap();
    }

    #[test]
    fn a_new_repository_is_harmless_if_all_of_its_parts_are() {
        type Change = fn(&Path);
        let changes: [(bool, Change); 13] = [
            (true, |_| {}),
            (true, |git| {
                fs::write(git.join("HEAD"), "a".repeat(40)).unwrap()
            }),
            (true, |git| {
                fs::write(git.join("hooks/pre-push.sample"), "").unwrap()
            }),
            (false, |git| {
                fs::write(git.join("HEAD"), "a".repeat(39)).unwrap()
            }),
            (false, |git| {
                fs::write(git.join("HEAD"), "x".repeat(40)).unwrap()
            }),
            (false, |git| {
                fs::write(git.join("HEAD"), "ref: ../elsewhere").unwrap()
            }),
            (false, |git| fs::remove_file(git.join("HEAD")).unwrap()),
            (false, |git| fs::remove_file(git.join("config")).unwrap()),
            (false, |git| fs::remove_dir(git.join("objects")).unwrap()),
            (false, |git| fs::remove_dir(git.join("refs")).unwrap()),
            (false, |git| {
                fs::write(git.join("config"), "#".repeat(300_000)).unwrap()
            }),
            (false, |git| {
                fs::rename(git.join("HEAD"), git.join("other")).unwrap();
                std::os::unix::fs::symlink("other", git.join("HEAD")).unwrap();
            }),
            (false, |git| {
                fs::create_dir_all(git.join("a/hooks")).unwrap();
                fs::write(git.join("a/hooks/x"), "").unwrap();
            }),
        ];
        for (number, (expected, change)) in changes.into_iter().enumerate() {
            let root = tempfile::tempdir().unwrap();
            let git = root.path().join(".git");
            create_repository(&git);
            change(&git);
            assert_eq!(
                is_harmless_repository(&git, root.path()),
                expected,
                "{number}"
            );
        }
    }

    #[test]
    fn a_file_of_a_submodule_leads_to_a_module_of_a_repository_of_the_workspace() {
        let above = tempfile::tempdir().unwrap();
        let root = above.path().join("root");
        for module in [
            ".git/modules/a",
            ".git/modules",
            "other/a",
            "../outside/.git/modules/a",
        ] {
            create_repository(&root.join(module));
        }
        fs::create_dir(root.join("sub")).unwrap();
        std::os::unix::fs::symlink(
            "../../../outside/.git/modules/a",
            root.join(".git/modules/link"),
        )
        .unwrap();
        let absolute = root.join(".git/modules/a");
        for (target, expected) in [
            ("../.git/modules/a", true),
            (absolute.to_str().unwrap(), true),
            ("../.git/modules", false),
            ("../.git/modules/link", false),
            ("../.git/modules/missing", false),
            ("../other/a", false),
            ("../../outside/.git/modules/a", false),
        ] {
            fs::write(root.join("sub/.git"), format!("gitdir: {target}\n")).unwrap();
            assert_eq!(
                is_harmless_repository(&root.join("sub/.git"), &root),
                expected,
                "{target}"
            );
        }
        fs::write(root.join("sub/.git"), "gitdir: ../.git/modules/a\n").unwrap();
        fs::write(root.join(".git/modules/a/hooks/x"), "").unwrap();
        assert!(
            !is_harmless_repository(&root.join("sub/.git"), &root),
            "the module runs something"
        );
    }

    #[test]
    fn a_file_in_a_folder_of_git_is_judged_by_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let check = |names: &str, text: &str| {
            fs::write(&path, text).unwrap();
            is_harmless(
                &path,
                &names.split('/').collect::<Vec<_>>(),
                None,
                Some(folder.path()),
            )
        };
        for (names, text) in [
            ("config", "[user]\nemail = a"),
            ("modules/a/config", "[core]\nworktree = ../../../a"),
            ("index", ""),
            ("rebase-merge/strategy", "ort\n"),
            ("rebase-merge/git-rebase-todo", "# a\npick 1 a\n"),
            ("worktrees/a/commondir", "../..\n"),
            ("worktrees/a/gitdir", "/b/a/.git\n"),
        ] {
            assert!(check(names, text), "{names} {text}");
        }
        for (names, text) in [
            ("config.worktree", "[user]\nemail = a"),
            ("config", "[core]\nworktree = ../../../a"),
            ("rebase-merge/strategy", "evil\n"),
            ("rebase-merge/git-rebase-todo", "exec evil\n"),
            ("commondir", ".."),
            ("worktrees/a/commondir", "../../../evil\n"),
            ("worktrees/a/gitdir", "/b/a\n"),
            ("modules/a/commondir", "../..\n"),
        ] {
            assert!(!check(names, text), "{names} {text}");
        }
    }
}
