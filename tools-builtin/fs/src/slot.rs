//! [`Slot`]: a directory entry that exists or may be created.

use std::io;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, Progress, ToolContext, ToolError};
use tools_workspace::HiddenSnapshot;

use crate::draft_name::is_draft;
use crate::error::{FsError, LinkFault};
use crate::files::Files;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::removal_question;

/// The maximum number of links on a path, as on Linux.
const MAX_LINKS: usize = 40;

/// The maximum number of entries searched for names similar to a missing one.
const MAX_CANDIDATES: usize = 10_000;

/// The number of characters shown of an overlong name.
const MAX_NAMED: usize = 40;

/// A name in a directory that is held open. Changes to the directories above cannot redirect it.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The path after links were resolved. No directory on it is a link.
    pub(crate) path: RelativePath,
    /// The kind of the entry when it was found. `None` if it did not exist.
    pub(crate) kind: Option<Kind>,
    pub(crate) parent: Dir,
    /// A single path component, or `.` for the root.
    pub(crate) name: String,
}

/// Options for resolving a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FindOptions {
    /// The accesses that the grant must cover for the targets of links.
    pub(crate) accesses: &'static [Access],
    /// Whether to follow a link in the last component.
    pub(crate) follow: bool,
    pub(crate) missing: IfMissing,
}

impl FindOptions {
    /// Options for the entry to which the path leads, also through a link in the last component.
    pub(crate) fn following(accesses: &'static [Access], missing: IfMissing) -> Self {
        Self {
            accesses,
            follow: true,
            missing,
        }
    }

    /// Returns options that take a link for the entry itself.
    pub(crate) fn of_entry(accesses: &'static [Access], missing: IfMissing) -> Self {
        Self {
            follow: false,
            ..Self::following(accesses, missing)
        }
    }
}

/// How to treat missing components of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// Returns an error that suggests similar names.
    Fail,
    /// Returns an error without suggestions, which cost a scan of the directory.
    FailPlainly,
    /// Allows the last component to be missing.
    AllowLast,
    /// Allows the last component to be missing, and creates the directories before it.
    CreateDirs,
}

/// The result of walking a path up to its end or its first link.
enum Walk {
    Found(Slot),
    /// The path with the link replaced by its target.
    Link(RelativePath),
}

impl Slot {
    /// Resolves a path.
    ///
    /// Opens one directory at a time and resolves each link explicitly: its target must lie below the root, and the grant must
    /// cover the resulting path. The directory handles refuse to leave the workspace even if the tree changes meanwhile.
    pub(crate) fn find(
        files: Files<'_>,
        path: &RelativePath,
        options: FindOptions,
    ) -> Result<Self, FsError> {
        Self::find_or_create(files, path, options, &mut Vec::new())
    }

    /// Resolves a path like [`Slot::find`]. Adds the directories it creates to `created`, even if it then fails.
    pub(crate) fn find_or_create(
        files: Files<'_>,
        path: &RelativePath,
        options: FindOptions,
        created: &mut Vec<RelativePath>,
    ) -> Result<Self, FsError> {
        let mut current = path.clone();
        let hidden = files.workspace.hidden_snapshot();
        let mut accesses = options.accesses.iter();
        let is_change = accesses.any(|access| *access != Access::Read);
        for _ in 0..=MAX_LINKS {
            if is_change {
                files.note_write(&current)?;
                if current != *path {
                    removal_question::check_unasked(files, options.accesses, &current)?;
                }
            }
            match walk(files, &hidden, &current, options, created)? {
                Walk::Found(slot) => return Ok(slot),
                Walk::Link(next) => current = next,
            }
            for access in options.accesses {
                files.require(*access, &current)?;
            }
        }
        Err(FsError::TooManyLinks {
            path: path.clone(),
            limit: MAX_LINKS,
        })
    }

    /// Finds an entry to remove, and its kind. Returns an error for the root and for a link that leads to a hidden path.
    pub(crate) fn find_removable(
        files: Files<'_>,
        hidden: &HiddenSnapshot<'_>,
        path: &RelativePath,
        accesses: &'static [Access],
    ) -> Result<(Self, Kind), FsError> {
        let options = FindOptions::of_entry(accesses, IfMissing::Fail);
        let slot = Self::find(files, path, options)?;
        if slot.path.is_root() {
            return Err(FsError::Root);
        }
        let kind = slot.kind.unwrap_or(Kind::Unknown);
        if kind != Kind::Directory && hidden.has_hidden_below(slot.path.as_str()) {
            return Err(FsError::LeadsToHidden { path: slot.path });
        }
        Ok((slot, kind))
    }

    /// Returns true if there is a regular file, and false if there is nothing.
    ///
    /// # Errors
    /// Returns an error if there is an entry of another kind, which cannot be written.
    pub(crate) fn is_file(&self) -> Result<bool, FsError> {
        match self.kind {
            None | Some(Kind::File) => Ok(self.kind.is_some()),
            Some(kind) => Err(FsError::NotWritable {
                path: self.path.clone(),
                kind,
            }),
        }
    }

    /// Reads the current kind of the entry. Returns `None` if it does not exist.
    pub(crate) fn current_kind(&self) -> Result<Option<Kind>, FsError> {
        kind(&self.parent, &self.name, &self.path)
    }
}

/// Returns the kind of an entry, or `None` if it does not exist.
fn kind(parent: &Dir, name: &str, path: &RelativePath) -> Result<Option<Kind>, FsError> {
    match parent.symlink_metadata(name) {
        Ok(metadata) => Ok(Some(Kind::from(metadata.file_type()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => Err(FsError::LongName {
            length: name.len(),
            begin: name.chars().take(MAX_NAMED).collect(),
        }),
        Err(error) => Err(FsError::io(path)(error)),
    }
}

/// Walks a path to its end or its first link.
fn walk(
    files: Files<'_>,
    hidden: &HiddenSnapshot<'_>,
    path: &RelativePath,
    options: FindOptions,
    created: &mut Vec<RelativePath>,
) -> Result<Walk, FsError> {
    let parent = files.workspace.dir().try_clone();
    let mut parent = parent.map_err(FsError::io(path))?;
    let mut names = path.names().enumerate().peekable();
    while let Some((index, name)) = names.next() {
        let here = path.prefix(index + 1);
        let is_last = names.peek().is_none();
        let is_hidden = hidden.hides(&parent, name, here.as_str());
        // As if it were missing, so that no error tells that it is there.
        let kind = if is_hidden {
            None
        } else {
            kind(&parent, name, &here)?
        };
        match kind {
            Some(Kind::Link) if options.follow || !is_last => {
                // Errors and results name the target.
                files.show_content(&here);
                let target = parent
                    .read_link_contents(name)
                    .map_err(FsError::io(&here))?;
                let next = target.to_str().ok_or(LinkFault::NotUtf8);
                let next = next.and_then(|target| Ok(path.through_link(index, target)?));
                return next
                    .map(Walk::Link)
                    .map_err(|reason| FsError::Link { link: here, reason });
            }
            None if options.missing == IfMissing::Fail => {
                let near = near(files.cx, &parent, hidden, &path.prefix(index), name);
                files.show_names(&near);
                return Err(FsError::Missing { path: here, near });
            }
            None if options.missing == IfMissing::FailPlainly => {
                return Err(FsError::Missing {
                    path: here,
                    near: Vec::new(),
                });
            }
            None if is_hidden => return Err(FsError::Hidden { path: here }),
            // Tools do not show drafts, and later remove them as abandoned.
            None if is_draft(name) => return Err(FsError::Reserved { path: here }),
            kind if is_last => {
                return Ok(Walk::Found(Slot {
                    path: here,
                    kind,
                    parent,
                    name: name.to_owned(),
                }));
            }
            Some(Kind::Directory) => {
                // The directory may have become a link since its kind was read.
                parent = parent.open_dir_nofollow(name).map_err(FsError::io(&here))?
            }
            Some(kind) => return Err(FsError::NotADirectory { path: here, kind }),
            None if options.missing == IfMissing::CreateDirs => {
                if created.is_empty() {
                    files.cx.check_cancelled()?;
                    check_remaining(&parent, hidden, path, index)?;
                }
                parent = create_dir(files.cx, &parent, name, &here, created)?;
            }
            None => return Err(FsError::NoDirectory { path: here }),
        }
    }
    let kind = Some(Kind::Directory);
    Ok(Walk::Found(Slot {
        path: path.clone(),
        kind,
        parent,
        name: ".".to_owned(),
    }))
}

/// Checks the names after `index` before any directory is created for them. Looking a name up shows whether the file system
/// accepts it.
fn check_remaining(
    dir: &Dir,
    hidden: &HiddenSnapshot<'_>,
    path: &RelativePath,
    index: usize,
) -> Result<(), FsError> {
    if hidden.hides_path(path.as_str()) {
        return Err(FsError::Hidden { path: path.clone() });
    }
    for (at, name) in path.names().enumerate().skip(index + 1) {
        if is_draft(name) {
            return Err(FsError::Reserved {
                path: path.prefix(at + 1),
            });
        }
        kind(dir, name, path)?;
    }
    Ok(())
}

/// Creates a directory and opens it. Succeeds if another process created it meanwhile.
pub(crate) fn create_dir(
    cx: &ToolContext,
    parent: &Dir,
    name: &str,
    path: &RelativePath,
    created: &mut Vec<RelativePath>,
) -> Result<Dir, FsError> {
    match parent.create_dir(name) {
        Ok(()) => {
            // A cancelled call has no result, so the change is reported as progress.
            cx.report(Progress::message(format!("created the directory `{path}`")));
            // The directory may be created twice if another process removes it meanwhile.
            if !created.contains(path) {
                created.push(path.clone());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(FsError::change("create", path)(error)),
    }
    parent.open_dir_nofollow(name).map_err(FsError::io(path))
}

/// Returns up to three entries with names similar to a missing one, the closest first. Omits hidden entries and entries that
/// the grant does not cover.
fn near(
    cx: &ToolContext,
    dir: &Dir,
    hidden: &HiddenSnapshot<'_>,
    path: &RelativePath,
    missing: &str,
) -> Vec<String> {
    let entries = dir.entries().into_iter().flatten().take(MAX_CANDIDATES);
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        (!is_draft(&name)).then_some(name)
    });
    let names = names.filter(|name| {
        let path = path.child(name).ok();
        let path = path.filter(|path| !hidden.hides(dir, name, path.as_str()));
        path.is_some_and(|path| cx.require(Access::Read, "fs", path.as_str()).is_ok())
    });
    let names: Vec<_> = names.collect();
    let near = ToolError::near(missing, names.iter().map(String::as_str));
    let paths = near.iter().filter_map(|name| path.child(name).ok());
    paths.map(|path| path.to_string()).collect()
}
