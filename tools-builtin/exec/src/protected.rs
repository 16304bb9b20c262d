//! The sensitive paths that a program must not write.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use tools::policy::{Reason, SensitivePath, Sensitivity};
use tools::protocol::{Access, Target};
use tools::trees::{TreePath, Trees};
use tools::{ToolContext, ToolError};
use tools_fs::Workspace;

use crate::report::shown;
use crate::reserved::without_links;

/// The most entries of a workspace that are looked at for each run.
const MAX_ENTRIES: usize = 200_000;

/// The names in a folder of git that make it run programs, or obey another folder. The rest is its data.
const OF_GIT: [&str; 12] = [
    "attributes", "branches", "commondir", "config", "config.worktree", "git-rebase-todo", "gitdir", "hooks", "opts",
    "remotes", "strategy", "strategy_opts",
];

/// The folders of git that have the names of branches below them.
const DATA_OF_GIT: [&str; 3] = ["logs", "objects", "refs"];

/// The sensitive paths below the writable trees of a call: those that neither the grant nor a rule names, which stay protected, and those
/// whose changes a result names anyway.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    /// Absolute paths, sorted.
    found: BTreeMap<PathBuf, Found>,
}

/// A sensitive file or directory.
#[derive(Debug)]
struct Found {
    is_kept: bool,
    is_link: bool,
    /// True if no clause of a grant opens it.
    is_setting: bool,
    /// The length and the time of the last change. `None` for a directory, whose content is looked at or protected.
    stamp: Option<(u64, Changed)>,
}

/// A path to look at, below the root and in full, and whether a directory above it is protected.
type Waiting = (String, PathBuf, bool);

impl Protected {
    /// Looks for the paths below these trees. `is_kept` says whether the walls protect them, so that their content needs no look, nor that
    /// of hidden folders. Blocks.
    ///
    /// # Errors
    /// Returns an error if the trees have too many entries to look at.
    pub(crate) fn find(cx: &ToolContext, root: &Path, writable: &Trees, is_kept: bool) -> Result<Self, ToolError> {
        let mut found = Self::default();
        let mut left = MAX_ENTRIES;
        let workspace = cx.service::<Workspace>().filter(|_| is_kept);
        let hidden = workspace.iter().flat_map(|workspace| workspace.hidden_paths()).map(|path| without_links(path));
        let hidden: Vec<_> = hidden.collect();
        for tree in &writable.paths {
            found.add(cx, root, tree, is_kept, &hidden, &mut left)?;
        }
        Ok(found)
    }

    /// Returns the paths to protect.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let kept = self.found.iter().filter(|(_, found)| found.is_kept);
        kept.map(|(path, _)| path.clone()).collect()
    }

    /// Returns the paths that are new, changed or gone since, without those below another one.
    pub(crate) fn changed_since<'a>(&'a self, before: &'a Self) -> Vec<&'a Path> {
        let is_same = |path: &PathBuf| {
            let state = |found: &Found| (found.is_link, found.stamp);
            self.found.get(path).map(state) == before.found.get(path).map(state)
        };
        let all: BTreeSet<&PathBuf> = self.found.keys().chain(before.found.keys()).collect();
        let mut changed: Vec<&Path> = Vec::new();
        for path in all.into_iter().filter(|path| !is_same(path)) {
            if changed.last().is_none_or(|last| !path.starts_with(last)) {
                changed.push(path);
            }
        }
        changed
    }

    fn add(
        &mut self,
        cx: &ToolContext,
        root: &Path,
        tree: &TreePath,
        is_kept: bool,
        hidden: &[PathBuf],
        left: &mut usize,
    ) -> Result<(), ToolError> {
        let absolute = if tree.path == "." { root.to_owned() } else { root.join(&tree.path) };
        // A name that is not Unicode has a text for the tables, and leads to its own files.
        let mut waiting: Vec<Waiting> = vec![(tree.path.clone(), absolute, false)];
        while let Some((path, absolute, is_below)) = waiting.pop() {
            if hidden.iter().any(|hidden| absolute.starts_with(hidden)) {
                continue;
            }
            *left = left.checked_sub(1).ok_or_else(too_many)?;
            let Ok(metadata) = fs::symlink_metadata(&absolute) else { continue };
            let entry = cx.sensitive_paths().find(&path);
            let is_sensitive = entry.is_some_and(|entry| is_sensitive(entry, &path));
            // So is a path on the way to a file that configures Toolcrib.
            let is_setting = entry.is_some_and(|entry| entry.sensitivity() == Sensitivity::Settings);
            // Who replaces a link on the way to a setting chooses the setting.
            let is_way = metadata.is_symlink() && is_setting;
            let is_protected = !is_below && (is_way || is_sensitive && is_protected(cx, &path));
            if metadata.is_dir() && tree.is_tree && !(is_protected && is_kept) {
                for entry in fs::read_dir(&absolute).into_iter().flatten().flatten() {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    let path = if path == "." { name } else { format!("{path}/{name}") };
                    waiting.push((path, entry.path(), is_below || is_protected));
                }
            }
            if is_protected || (is_sensitive && !is_data_of_git(&path)) {
                let stamp = (!metadata.is_dir()).then(|| (metadata.len(), changed(&metadata)));
                let found = Found { is_kept: is_protected, is_link: metadata.is_symlink(), is_setting, stamp };
                self.found.insert(absolute, found);
            }
        }
        Ok(())
    }

    /// Refuses paths that the walls cannot keep: symbolic links, and names that are not Unicode.
    ///
    /// # Errors
    /// Returns an error that names the first one.
    pub(crate) fn check(&self, root: &Path) -> Result<(), ToolError> {
        for (path, found) in self.found.iter().filter(|(_, found)| found.is_kept) {
            let reason = match (found.is_link, path.to_str()) {
                (true, _) => "is a symbolic link",
                (_, None) => "has a name that is not Unicode",
                _ => continue,
            };
            let path = shown(path, root);
            let (role, opening) = match found.is_setting {
                true => ("is or leads to a file that decides what tools may do", String::new()),
                false => ("runs or configures programs", format!(", or name it with fs:write:{path}")),
            };
            return Err(ToolError::execution_failed(format!(
                "{path} {reason}, so programs could replace it, although it {role}; narrow the grant of writes{opening}"
            )));
        }
        Ok(())
    }
}

/// Returns true if the file runs or configures programs by itself. A folder on the way to one does not, and neither does a dot
/// file that the table does not have.
fn is_sensitive(entry: &SensitivePath, path: &str) -> bool {
    entry.sensitivity() >= Sensitivity::RunsByItself && entry.describe(path) == entry.note()
}

/// Returns true if writing the path would be asked about because it is sensitive.
fn is_protected(cx: &ToolContext, path: &str) -> bool {
    let Ok(target) = Target::new(Access::Write, "fs", path) else { return true };
    let targets = [target];
    let Some(tool) = cx.tool() else { return true };
    let mut reasons = cx.rulings(tool, &targets).flat_map(|ruling| ruling.reasons());
    reasons.any(|reason| matches!(reason, Reason::Sensitive(entry) if is_sensitive(entry, path)))
}

/// Returns true if the path lies in a folder of git, which writes it at each commit or fetch.
fn is_data_of_git(path: &str) -> bool {
    let mut names = path.split('/').skip_while(|name| !name.eq_ignore_ascii_case(".git")).skip(1).peekable();
    match names.peek() {
        None => false,
        Some(first) if DATA_OF_GIT.contains(first) => true,
        // In the repository of a submodule, branches of a remote lie in `refs/remotes`.
        _ => {
            let names: Vec<&str> = names.collect();
            let is_setting =
                |at: usize| OF_GIT.contains(&names[at]) && !(at > 0 && names[at - 1..=at] == ["refs", "remotes"]);
            !(0..names.len()).any(is_setting)
        }
    }
}

fn too_many() -> ToolError {
    ToolError::execution_failed(format!(
        "the writable part of the workspace has more than {MAX_ENTRIES} entries, too many to protect its settings; narrow the grant \
         of writes to a folder"
    ))
}

/// The time of the last change, in seconds and nanoseconds. A program can set the time of the last write, but not this one.
#[cfg(unix)]
type Changed = (i64, i64);

#[cfg(unix)]
fn changed(metadata: &Metadata) -> Changed {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
type Changed = Option<std::time::SystemTime>;

#[cfg(not(unix))]
fn changed(metadata: &Metadata) -> Changed {
    metadata.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_repository_are_told_from_its_data() {
        for setting in [
            ".git/config", ".git/hooks/a", ".git/remotes/origin", ".git/branches/a", ".git/rebase-merge/strategy",
            ".git/rebase-merge/strategy_opts", ".git/sequencer/opts", ".git/modules/a/remotes/origin",
        ] {
            assert!(!is_data_of_git(setting), "{setting}");
        }
        for data in [
            ".git/index",
            ".git/refs/remotes/origin/main",
            ".git/refs/heads/hooks",
            ".git/logs/refs/remotes/origin/main",
            ".git/modules/a/refs/remotes/origin/main",
            ".git/modules/a/logs/refs/remotes/origin/main",
            ".git/sequencer/head",
        ] {
            assert!(is_data_of_git(data), "{data}");
        }
    }
}
