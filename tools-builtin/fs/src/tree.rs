//! [`Tree`]: what is in a directory and below it, as far as it may be seen.

use std::io;
use std::ops::ControlFlow;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, ToolContext};

use crate::Workspace;
use crate::draft_name::is_draft;
use crate::error::FsError;
use crate::hidden::Sight;
use crate::ignored::Ignored;
use crate::kind::Kind;
use crate::path::RelativePath;

/// How many entries are looked at.
const MAX_ENTRIES: u64 = 200_000;

/// How deep directories are entered; one handle is open for each.
const MAX_DEPTH: usize = 100;

/// A walk through a directory and those below it. Links are seen and never followed, so it has an end. Each directory is
/// opened by its name in the one above it, which is held open meanwhile; each entry has to be covered by the grant.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    cx: &'a ToolContext,
    sight: Sight<'a>,
    /// `None` where ignore files are not asked.
    ignored: Option<Ignored>,
    entries: u64,
    left_out: LeftOut,
}

/// An entry on the way.
pub(crate) struct Found<'a> {
    pub(crate) dir: &'a Dir,
    pub(crate) name: &'a str,
    pub(crate) path: &'a RelativePath,
    pub(crate) kind: Kind,
}

/// How much was not seen, and why.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    not_granted: u64,
    unspeakable: u64,
    unreadable: u64,
    too_deep: u64,
    stopped: bool,
    /// What is to be said of ignore files.
    ignore_files: Vec<String>,
}

impl<'a> Tree<'a> {
    /// A walk that begins at `path`.
    pub(crate) fn new(cx: &'a ToolContext, workspace: &'a Workspace, path: &RelativePath, all: bool) -> Self {
        let ignored = (!all).then(|| Ignored::above(cx, workspace.dir(), path));
        Self { cx, sight: workspace.sight(), ignored, entries: 0, left_out: LeftOut::default() }
    }

    /// Shows every entry to `visit`, in the order of their names, directories before what is in them, until it breaks off.
    pub(crate) fn walk(
        mut self,
        dir: &Dir,
        path: &RelativePath,
        visit: &mut dyn FnMut(Found<'_>) -> Result<ControlFlow<()>, FsError>,
    ) -> Result<LeftOut, FsError> {
        let _ = self.enter(dir, path, MAX_DEPTH, visit)?;
        self.left_out.ignore_files = self.ignored.map(|ignored| ignored.facts()).unwrap_or_default();
        Ok(self.left_out)
    }

    fn enter(
        &mut self,
        dir: &Dir,
        path: &RelativePath,
        depth: usize,
        visit: &mut dyn FnMut(Found<'_>) -> Result<ControlFlow<()>, FsError>,
    ) -> Result<ControlFlow<()>, FsError> {
        let names = self.names(dir)?;
        if let Some(ignored) = &mut self.ignored {
            ignored.enter(self.cx, dir, path);
        }
        for name in &names {
            self.cx.check_cancelled()?;
            let Some((path, kind)) = self.seen(dir, path, name)? else { continue };
            if visit(Found { dir, name, path: &path, kind })?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if kind != Kind::Directory {
                continue;
            }
            if depth == 0 {
                self.left_out.too_deep += 1;
                continue;
            }
            match dir.open_dir_nofollow(name) {
                Ok(below) if self.enter(&below, &path, depth - 1, visit)?.is_break() => {
                    return Ok(ControlFlow::Break(()));
                }
                Ok(_) => {}
                Err(_) => self.left_out.unreadable += 1,
            }
        }
        if let Some(ignored) = &mut self.ignored {
            ignored.leave();
        }
        Ok(if self.left_out.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The names in a directory, sorted, as far as arguments could spell them.
    fn names(&mut self, dir: &Dir) -> Result<Vec<String>, FsError> {
        let mut names = Vec::new();
        let Ok(entries) = dir.entries() else {
            self.left_out.unreadable += 1;
            return Ok(names);
        };
        for entry in entries {
            self.cx.check_cancelled()?;
            if self.entries == MAX_ENTRIES {
                self.left_out.stopped = true;
                break;
            }
            self.entries += 1;
            match entry.map(|entry| entry.file_name().into_string()) {
                Ok(Ok(name)) if is_draft(&name) => {}
                Ok(Ok(name)) => names.push(name),
                Ok(Err(_)) => self.left_out.unspeakable += 1,
                Err(_) => self.left_out.unreadable += 1,
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// What an entry is, if it is to be seen.
    fn seen(&mut self, dir: &Dir, path: &RelativePath, name: &str) -> Result<Option<(RelativePath, Kind)>, FsError> {
        let Ok(path) = path.child(name) else {
            self.left_out.unspeakable += 1;
            return Ok(None);
        };
        if self.sight.hides(dir, name, &path) {
            return Ok(None);
        }
        let kind = match dir.symlink_metadata(name) {
            Ok(metadata) => Kind::from(metadata.file_type()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => {
                self.left_out.unreadable += 1;
                return Ok(None);
            }
        };
        if let Some(ignored) = &self.ignored
            && ignored.covers(self.cx, &path, kind == Kind::Directory)?
        {
            return Ok(None);
        }
        if self.cx.require(Access::Read, "fs", path.as_str()).is_err() {
            self.left_out.not_granted += 1;
            return Ok(None);
        }
        Ok(Some((path, kind)))
    }
}

impl LeftOut {
    /// Whether there are entries that were not even counted.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// What there is to say about it.
    pub(crate) fn facts(&self) -> Vec<String> {
        let counted = [
            (self.not_granted, "left out for lack of a grant"),
            (self.unspeakable, "left out because no argument could spell their names"),
            (self.unreadable, "that could not be opened"),
            (self.too_deep, "nested too deep to be entered"),
        ];
        let mut facts: Vec<String> = counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("entries {why}: {count}"))
            .collect();
        if self.stopped {
            facts.push(format!("stopped after {MAX_ENTRIES} entries; begin in a directory further down"));
        }
        facts.extend_from_slice(&self.ignore_files);
        facts
    }
}
