//! [`TreeWalk`]: a recursive walk that respects the grant, hidden paths and ignore files.

use std::io;
use std::ops::ControlFlow;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::Access;
use tools_workspace::HiddenSnapshot;

use crate::draft_name::is_draft;
use crate::error::FsError;
use crate::files::Files;
use crate::ignore_rules::IgnoreRules;
use crate::kind::Kind;
use crate::path::RelativePath;

/// The maximum number of entries visited.
const MAX_ENTRIES: u64 = 200_000;

/// The maximum depth; each level keeps one directory handle open.
const MAX_DEPTH: usize = 100;

/// A recursive walk of a directory.
///
/// - Links are visited and not followed.
/// - Each directory is opened through the handle of its parent.
/// - Entries that the grant does not cover are skipped and counted.
#[derive(Debug)]
pub(crate) struct TreeWalk<'a> {
    files: Files<'a>,
    hidden: HiddenSnapshot<'a>,
    /// `None` if ignore files are not applied.
    ignored: Option<IgnoreRules>,
    entries: u64,
    skipped: Skipped,
}

/// A visited entry.
pub(crate) struct WalkEntry<'a> {
    pub(crate) dir: &'a Dir,
    pub(crate) name: &'a str,
    pub(crate) path: &'a RelativePath,
    pub(crate) kind: Kind,
}

/// The numbers of skipped entries, by reason.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    not_granted: u64,
    invalid_name: u64,
    unreadable: u64,
    too_deep: u64,
    /// True if the walk stopped at [`MAX_ENTRIES`].
    pub(crate) stopped: bool,
    /// Notes about the ignore files themselves.
    ignore_files: Vec<String>,
}

impl<'a> TreeWalk<'a> {
    /// Creates a walk that starts at `path`. With `all`, ignore files are not applied.
    pub(crate) fn new(files: Files<'a>, path: &RelativePath, all: bool) -> Self {
        let ignored = (!all).then(|| IgnoreRules::from_ancestors(files, path));
        Self {
            files,
            hidden: files.workspace.hidden_snapshot(),
            ignored,
            entries: 0,
            skipped: Skipped::default(),
        }
    }

    /// Calls `visit` for each entry until it breaks. Entries are sorted by name, directories come before their contents.
    pub(crate) fn run(
        mut self,
        dir: &Dir,
        path: &RelativePath,
        visit: &mut dyn FnMut(WalkEntry<'_>) -> Result<ControlFlow<()>, FsError>,
    ) -> Result<Skipped, FsError> {
        let _ = self.enter(dir, path, MAX_DEPTH, visit)?;
        if let Some(ignored) = &self.ignored {
            self.files.show_names(ignored.noted_paths());
            self.skipped.ignore_files = ignored.notes();
        }
        Ok(self.skipped)
    }

    fn enter(
        &mut self,
        dir: &Dir,
        path: &RelativePath,
        depth: usize,
        visit: &mut dyn FnMut(WalkEntry<'_>) -> Result<ControlFlow<()>, FsError>,
    ) -> Result<ControlFlow<()>, FsError> {
        let names = self.names(dir)?;
        if let Some(ignored) = &mut self.ignored {
            ignored.enter(self.files.cx, dir, path);
        }
        for name in &names {
            self.files.cx.check_cancelled()?;
            let Some((path, kind)) = self.visible(dir, path, name)? else {
                continue;
            };
            if visit(WalkEntry {
                dir,
                name,
                path: &path,
                kind,
            })?
            .is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
            if kind != Kind::Directory {
                continue;
            }
            if depth == 0 {
                self.skipped.too_deep += 1;
                continue;
            }
            match dir.open_dir_nofollow(name) {
                Ok(below) if self.enter(&below, &path, depth - 1, visit)?.is_break() => {
                    return Ok(ControlFlow::Break(()));
                }
                Ok(_) => {}
                Err(_) => self.skipped.unreadable += 1,
            }
        }
        if let Some(ignored) = &mut self.ignored {
            ignored.leave();
        }
        Ok(if self.skipped.stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    /// Returns the UTF-8 names in a directory, sorted.
    fn names(&mut self, dir: &Dir) -> Result<Vec<String>, FsError> {
        let mut names = Vec::new();
        let Ok(entries) = dir.entries() else {
            self.skipped.unreadable += 1;
            return Ok(names);
        };
        for entry in entries {
            self.files.cx.check_cancelled()?;
            if self.entries == MAX_ENTRIES {
                self.skipped.stopped = true;
                break;
            }
            self.entries += 1;
            match entry.map(|entry| entry.file_name().into_string()) {
                Ok(Ok(name)) if is_draft(&name) => {}
                Ok(Ok(name)) => names.push(name),
                Ok(Err(_)) => self.skipped.invalid_name += 1,
                Err(_) => self.skipped.unreadable += 1,
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns `None` if the entry is to be skipped.
    fn visible(
        &mut self,
        dir: &Dir,
        path: &RelativePath,
        name: &str,
    ) -> Result<Option<(RelativePath, Kind)>, FsError> {
        let Ok(path) = path.child(name) else {
            self.skipped.invalid_name += 1;
            return Ok(None);
        };
        if self.hidden.hides(dir, name, path.as_str()) {
            return Ok(None);
        }
        let kind = match dir.symlink_metadata(name) {
            Ok(metadata) => Kind::from(metadata.file_type()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => {
                self.skipped.unreadable += 1;
                return Ok(None);
            }
        };
        if let Some(ignored) = &self.ignored
            && ignored.excludes(self.files.cx, &path, kind == Kind::Directory)?
        {
            return Ok(None);
        }
        if self.files.require(Access::Read, &path).is_err() {
            self.skipped.not_granted += 1;
            return Ok(None);
        }
        Ok(Some((path, kind)))
    }
}

impl Skipped {
    /// Returns the counts as notes for a result.
    pub(crate) fn notes(&self) -> Vec<String> {
        let counted = [
            (self.not_granted, "skipped for lack of a grant"),
            (
                self.invalid_name,
                "skipped because their names are not valid in path arguments",
            ),
            (self.unreadable, "that could not be opened"),
            (self.too_deep, "nested too deep to be entered"),
        ];
        let mut notes: Vec<String> = counted
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("entries {why}: {count}"))
            .collect();
        if self.stopped {
            notes.push(format!(
                "stopped after {MAX_ENTRIES} entries; start in a subdirectory"
            ));
        }
        notes.extend_from_slice(&self.ignore_files);
        notes
    }
}
