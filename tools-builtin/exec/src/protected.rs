//! The sensitive paths that a program must not write.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tools::policy::{Reason, Sensitivity};
use tools::protocol::{Access, Target};
use tools::{ToolContext, ToolError, TreePath, Trees, visible_line};

/// The most entries of a workspace that are looked at for each run.
const MAX_ENTRIES: usize = 200_000;

/// The sensitive paths below the writable trees of a call that neither the grant nor a rule names.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    /// Absolute paths with the state of each.
    found: BTreeMap<PathBuf, State>,
}

/// The state of a file or directory, to notice a change: whether it is a link, its length and its time.
type State = (bool, u64, Option<SystemTime>);

impl Protected {
    /// Looks for the paths below these trees. Blocks.
    ///
    /// # Errors
    /// Returns an error if the trees have too many entries to look at.
    pub(crate) fn find(cx: &ToolContext, root: &Path, writable: &Trees) -> Result<Self, ToolError> {
        let mut found = Self::default();
        let mut left = MAX_ENTRIES;
        for tree in &writable.paths {
            found.add(cx, root, tree, &mut left)?;
        }
        Ok(found)
    }

    /// Returns the paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.found.keys().cloned().collect()
    }

    /// Returns the paths that are new, changed or gone since.
    pub(crate) fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Path> {
        let now = self.found.iter().filter(|(path, state)| before.found.get(*path) != Some(state));
        let gone = before.found.iter().filter(|(path, _)| !self.found.contains_key(*path));
        now.chain(gone).map(|(path, _)| path.as_path())
    }

    fn add(&mut self, cx: &ToolContext, root: &Path, tree: &TreePath, left: &mut usize) -> Result<(), ToolError> {
        let absolute = if tree.path == "." { root.to_owned() } else { root.join(&tree.path) };
        // A name that is not Unicode has a text for the tables, and leads to its own files.
        let mut waiting = vec![(tree.path.clone(), absolute)];
        while let Some((path, absolute)) = waiting.pop() {
            *left = left.checked_sub(1).ok_or_else(too_many)?;
            let Ok(metadata) = fs::symlink_metadata(&absolute) else { continue };
            if is_protected(cx, &path) {
                let state = (metadata.is_symlink(), metadata.len(), metadata.modified().ok());
                self.found.insert(absolute, state);
            } else if metadata.is_dir() && tree.is_tree {
                for entry in fs::read_dir(&absolute).into_iter().flatten().flatten() {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    waiting.push((if path == "." { name } else { format!("{path}/{name}") }, entry.path()));
                }
            }
        }
        Ok(())
    }

    /// Refuses paths that the walls cannot keep: symbolic links, and names that are not Unicode.
    ///
    /// # Errors
    /// Returns an error that names the first one.
    pub(crate) fn check(&self, root: &Path) -> Result<(), ToolError> {
        for (path, (is_link, ..)) in &self.found {
            let reason = match (is_link, path.to_str()) {
                (true, _) => "is a symbolic link",
                (_, None) => "has a name that is not Unicode",
                _ => continue,
            };
            let path = shown(path, root);
            return Err(ToolError::execution_failed(format!(
                "{path} {reason}, so programs could replace it, although it runs or configures programs; narrow the grant of writes, \
                 or name it with fs:write:{path}"
            )));
        }
        Ok(())
    }
}

/// Returns a path below the root as one line.
pub(crate) fn shown(path: &Path, root: &Path) -> String {
    visible_line(&path.strip_prefix(root).unwrap_or(path).to_string_lossy(), 200)
}

/// Returns true if writing the path itself would be asked about because it is sensitive.
fn is_protected(cx: &ToolContext, path: &str) -> bool {
    if cx.sensitive_paths().find(path).is_none_or(|entry| entry.sensitivity() == Sensitivity::BuildFile) {
        return false;
    }
    let Ok(target) = Target::new(Access::Write, "fs", path) else { return true };
    let targets = [target];
    let Some(tool) = cx.tool() else { return true };
    let mut reasons = cx.rulings(tool, &targets).flat_map(|ruling| ruling.reasons());
    reasons.any(|reason| matches!(reason, Reason::Sensitive(entry) if entry.describe(path) == entry.note()))
}

fn too_many() -> ToolError {
    ToolError::execution_failed(format!(
        "the writable part of the workspace has more than {MAX_ENTRIES} entries, too many to protect its settings; narrow the grant \
         of writes to a folder"
    ))
}
