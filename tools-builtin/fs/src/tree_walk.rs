//! [`TreeWalk`]: a recursive walk that respects the grant, hidden paths and ignore files.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

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
    hidden: &'a HiddenSnapshot<'a>,
    /// `None` if ignore files are not applied.
    ignored: Option<IgnoreRules>,
    opens_files: bool,
    entries: u64,
    skipped: Skipped,
}

/// A visited entry.
pub(crate) struct WalkEntry<'a> {
    pub(crate) dir: &'a Arc<Dir>,
    pub(crate) path: &'a RelativePath,
    pub(crate) kind: Kind,
}

/// A callback for one entry.
type Visit<'a> = dyn FnMut(WalkEntry<'_>) -> Result<ControlFlow<()>, FsError> + 'a;

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
    pub(crate) fn new(
        files: Files<'a>,
        hidden: &'a HiddenSnapshot<'a>,
        path: &RelativePath,
        all: bool,
    ) -> Self {
        let ignored = (!all).then(|| IgnoreRules::from_ancestors(files, path));
        Self {
            files,
            hidden,
            ignored,
            opens_files: false,
            entries: 0,
            skipped: Skipped::default(),
        }
    }

    /// Leaves the check of files by their identity to the visitor, who reads their metadata anyway.
    pub(crate) fn opening_files(mut self) -> Self {
        self.opens_files = true;
        self
    }

    /// Calls `visit` for each entry until it breaks. Entries are sorted by name, directories come before their contents.
    pub(crate) fn run(
        mut self,
        dir: Dir,
        path: &RelativePath,
        visit: &mut Visit<'_>,
    ) -> Result<Skipped, FsError> {
        let _ = self.enter(&Arc::new(dir), path, MAX_DEPTH, visit)?;
        if let Some(ignored) = &self.ignored {
            self.files.show_names(ignored.noted_paths());
            self.skipped.ignore_files = ignored.notes();
        }
        Ok(self.skipped)
    }

    fn enter(
        &mut self,
        dir: &Arc<Dir>,
        path: &RelativePath,
        depth: usize,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, FsError> {
        let entries = self.entries(dir)?;
        if let Some(ignored) = &mut self.ignored {
            let is_there = |name: &str| {
                entries
                    .binary_search_by(|(entry, _)| entry.as_str().cmp(name))
                    .is_ok()
            };
            ignored.enter(self.files.cx, dir, path, is_there);
        }
        for (name, kind) in &entries {
            self.files.cx.check_cancelled()?;
            let Some((path, kind)) = self.visible(dir, path, name, *kind)? else {
                continue;
            };
            if visit(WalkEntry {
                dir,
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
                Ok(below) => {
                    let below = Arc::new(below);
                    if self.enter(&below, &path, depth - 1, visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
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

    /// Returns the UTF-8 names in a directory, sorted, with their kinds.
    fn entries(&mut self, dir: &Dir) -> Result<Vec<(String, Kind)>, FsError> {
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
            let Ok(entry) = entry else {
                self.skipped.unreadable += 1;
                continue;
            };
            match entry.file_name().into_string() {
                Ok(name) if is_draft(&name) => {}
                Ok(name) => names.push((name, entry.file_type().map_or(Kind::Unknown, Kind::from))),
                Err(_) => self.skipped.invalid_name += 1,
            }
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(names)
    }

    /// Returns `None` if the entry is to be skipped.
    fn visible(
        &mut self,
        dir: &Dir,
        path: &RelativePath,
        name: &str,
        mut kind: Kind,
    ) -> Result<Option<(RelativePath, Kind)>, FsError> {
        let Ok(path) = path.child(name) else {
            self.skipped.invalid_name += 1;
            return Ok(None);
        };
        let is_opened = self.opens_files && kind == Kind::File;
        let is_hidden = if is_opened {
            self.hidden.hides_path(path.as_str())
        } else {
            self.hidden.hides(dir, name, path.as_str())
        };
        if is_hidden {
            return Ok(None);
        }
        // Not every file system tells the kinds in a list of names.
        if kind == Kind::Unknown {
            kind = match dir.symlink_metadata(name) {
                Ok(metadata) => Kind::from(metadata.file_type()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(_) => {
                    self.skipped.unreadable += 1;
                    return Ok(None);
                }
            };
        }
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
