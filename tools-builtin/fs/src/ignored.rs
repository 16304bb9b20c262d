//! [`Ignored`]: what ignore files leave out.

use std::io::Read;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tools::{Access, ToolContext};

use crate::path::RelativePath;
use crate::place::open_file;

/// The files that are honoured, the stronger one last.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// How much of one is read, in bytes.
const MAX_FILE: u64 = 64 * 1024;

/// What the ignore files of a directory and of those above it leave out. They are read through the handles of their
/// directories, as far as the grant goes, and links in their places are not followed. Repositories' own `.git` is left out
/// with them.
#[derive(Debug, Default)]
pub(crate) struct Ignored {
    /// One for each directory on the way, with the length of what its path adds to those below it.
    rules: Vec<(usize, Gitignore)>,
}

impl Ignored {
    /// The rules that hold in a directory because of those above it.
    pub(crate) fn above(cx: &ToolContext, root: &Dir, path: &RelativePath) -> Self {
        let mut ignored = Self::default();
        let mut current = root.try_clone().ok();
        for (index, name) in path.names().enumerate() {
            let Some(dir) = current else { break };
            ignored.enter(cx, &dir, &path.prefix(index));
            current = dir.open_dir_nofollow(name).ok();
        }
        ignored
    }

    /// Adds the rules of a directory.
    pub(crate) fn enter(&mut self, cx: &ToolContext, dir: &Dir, path: &RelativePath) {
        let mut builder = GitignoreBuilder::new(".");
        for name in NAMES {
            for line in text(cx, dir, path, name).unwrap_or_default().lines() {
                // A line that is no pattern says nothing, as for git.
                let _ = builder.add_line(None, line);
            }
        }
        let length = if path.is_root() { 0 } else { path.as_str().len() + 1 };
        self.rules.push((length, builder.build().unwrap_or_else(|_| Gitignore::empty())));
    }

    /// Takes the rules of the directory that was entered last away again.
    pub(crate) fn leave(&mut self) {
        self.rules.pop();
    }

    /// Whether something in the directory that was entered last is left out. The nearest rule decides.
    pub(crate) fn covers(&self, path: &RelativePath, is_dir: bool) -> bool {
        if path.names().last() == Some(".git") {
            return true;
        }
        let matched = self.rules.iter().rev().map(|(length, rules)| {
            let below = path.as_str().get(*length..).unwrap_or_default();
            rules.matched(below, is_dir)
        });
        matched.into_iter().find(|matched| !matched.is_none()).is_some_and(|matched| matched.is_ignore())
    }
}

fn text(cx: &ToolContext, dir: &Dir, path: &RelativePath, name: &str) -> Option<String> {
    let path = path.child(name).ok()?;
    cx.require(Access::Read, "fs", path.as_str()).ok()?;
    let mut bytes = Vec::new();
    open_file(dir, name, &path).ok()?.take(MAX_FILE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
