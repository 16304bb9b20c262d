//! [`Slot`]: where an entry is, or where one may be put.

use std::io;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::{Access, Progress, ToolContext, ToolError};

use crate::Workspace;
use crate::draft_name::is_draft;
use crate::error::{FsError, LinkFault};
use crate::hidden::Sight;
use crate::kind::Kind;
use crate::path::RelativePath;

/// How many links a path may pass, as on Linux.
const MAX_LINKS: usize = 40;

/// How many entries of a directory are looked through for names like one that is missing.
const MAX_CANDIDATES: usize = 10_000;

/// How much of a name that is too long is shown, in characters.
const MAX_NAMED: usize = 40;

/// A name in a directory that is held open. Nothing that happens to the directories above it can lead to another one.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The path by which it was reached in the end. No directory on it is a link.
    pub(crate) path: RelativePath,
    /// What was there when it was found, if anything.
    pub(crate) kind: Option<Kind>,
    pub(crate) parent: Dir,
    /// One part of a path, or `.` for the root.
    pub(crate) name: String,
}

/// How a path is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// What the grant has to allow with whatever a link leads to.
    pub(crate) accesses: &'static [Access],
    /// Whether a link at the end is followed too, or is itself what was meant.
    pub(crate) follow: bool,
    pub(crate) missing: Missing,
}

/// What becomes of a part of a path that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is an error.
    Refused,
    /// The last part may be missing.
    Last,
    /// So may the others, and directories are made in their place.
    Made,
}

enum Walk {
    Found(Slot),
    /// The path goes on here.
    Link(RelativePath),
}

impl Slot {
    /// Finds where a path leads.
    ///
    /// The way is walked one directory at a time, and nothing on it is followed without being looked at: a link turns the
    /// path into another one, which has to lie below the root and be covered by the grant as if it had been asked for. The
    /// directory handles refuse to step out in any case, whatever happens to the tree meanwhile.
    pub(crate) fn find(
        cx: &ToolContext,
        workspace: &Workspace,
        path: &RelativePath,
        way: Way,
    ) -> Result<Self, FsError> {
        Self::find_or_make(cx, workspace, path, way, &mut Vec::new())
    }

    /// [`Slot::find`], which adds the directories that it made to `made`, also when it fails after that.
    pub(crate) fn find_or_make(
        cx: &ToolContext,
        workspace: &Workspace,
        path: &RelativePath,
        way: Way,
        made: &mut Vec<RelativePath>,
    ) -> Result<Self, FsError> {
        let mut current = path.clone();
        let sight = workspace.sight();
        for _ in 0..=MAX_LINKS {
            match walk(cx, workspace.dir(), &sight, &current, way, made)? {
                Walk::Found(slot) => return Ok(slot),
                Walk::Link(next) => current = next,
            }
            for access in way.accesses {
                cx.require(*access, "fs", current.as_str())?;
            }
        }
        Err(FsError::TooManyLinks { path: path.clone(), limit: MAX_LINKS })
    }

    /// What is there now.
    pub(crate) fn look(&self) -> Result<Option<Kind>, FsError> {
        kind(&self.parent, &self.name, &self.path)
    }
}

/// What a name stands for, if there is anything.
fn kind(parent: &Dir, name: &str, path: &RelativePath) -> Result<Option<Kind>, FsError> {
    match parent.symlink_metadata(name) {
        Ok(metadata) => Ok(Some(Kind::from(metadata.file_type()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
            Err(FsError::LongName { length: name.len(), begin: name.chars().take(MAX_NAMED).collect() })
        }
        Err(error) => Err(FsError::io(path)(error)),
    }
}

/// Goes down a path, up to its end or to the first link on it.
fn walk(
    cx: &ToolContext,
    root: &Dir,
    sight: &Sight<'_>,
    path: &RelativePath,
    way: Way,
    made: &mut Vec<RelativePath>,
) -> Result<Walk, FsError> {
    let mut parent = root.try_clone().map_err(FsError::io(path))?;
    let mut names = path.names().enumerate().peekable();
    while let Some((index, name)) = names.next() {
        let here = path.prefix(index + 1);
        let is_last = names.peek().is_none();
        let is_hidden = sight.hides(&parent, name, &here);
        let kind = if is_hidden { None } else { kind(&parent, name, &here)? };
        match kind {
            Some(Kind::Link) if way.follow || !is_last => {
                let destination = parent.read_link_contents(name).map_err(FsError::io(&here))?;
                let next = destination.to_str().ok_or(LinkFault::NotUtf8);
                let next = next.and_then(|destination| Ok(path.through_link(index, destination)?));
                return next.map(Walk::Link).map_err(|reason| FsError::Link { link: here, reason });
            }
            None if way.missing == Missing::Refused => {
                let near = near(cx, &parent, sight, &path.prefix(index), name);
                return Err(FsError::Missing { path: here, near });
            }
            None if is_hidden => return Err(FsError::Hidden { path: here }),
            // It would be seen by nobody, and be taken for abandoned some day.
            None if is_draft(name) => return Err(FsError::Reserved { path: here }),
            kind if is_last => return Ok(Walk::Found(Slot { path: here, kind, parent, name: name.to_owned() })),
            Some(Kind::Directory) => parent = parent.open_dir_nofollow(name).map_err(FsError::io(&here))?,
            Some(kind) => return Err(FsError::NotADirectory { path: here, kind }),
            None if way.missing == Missing::Made => {
                if made.is_empty() {
                    cx.check_cancelled()?;
                    check_rest(&parent, sight, path, index)?;
                }
                parent = make(cx, &parent, name, &here, made)?;
            }
            None => return Err(FsError::NoDirectory { path: here }),
        }
    }
    let kind = Some(Kind::Directory);
    Ok(Walk::Found(Slot { path: path.clone(), kind, parent, name: ".".to_owned() }))
}

/// Whether the names that come after the one at `index` may be given, before anything is made for them. What the file system
/// does not take shows when it is asked for it.
fn check_rest(dir: &Dir, sight: &Sight<'_>, path: &RelativePath, index: usize) -> Result<(), FsError> {
    if sight.hides_path(path.as_str()) {
        return Err(FsError::Hidden { path: path.clone() });
    }
    for (at, name) in path.names().enumerate().skip(index + 1) {
        if is_draft(name) {
            return Err(FsError::Reserved { path: path.prefix(at + 1) });
        }
        kind(dir, name, path)?;
    }
    Ok(())
}

/// Makes a directory and opens it. One that somebody else made meanwhile is as good.
pub(crate) fn make(
    cx: &ToolContext,
    parent: &Dir,
    name: &str,
    path: &RelativePath,
    made: &mut Vec<RelativePath>,
) -> Result<Dir, FsError> {
    match parent.create_dir(name) {
        Ok(()) => {
            // Whoever takes the call back now gets no result that could say it.
            cx.report(Progress::message(format!("made the directory `{path}`")));
            // It may be made again, when somebody removes it meanwhile.
            if !made.contains(path) {
                made.push(path.clone());
            }
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(FsError::change("make", path)(error)),
    }
    parent.open_dir_nofollow(name).map_err(FsError::io(path))
}

/// Up to three entries of a directory with a name like a missing one, the most alike first. What the grant does not cover
/// is not named, nor is what is hidden.
fn near(cx: &ToolContext, dir: &Dir, sight: &Sight<'_>, path: &RelativePath, missing: &str) -> Vec<String> {
    let entries = dir.entries().into_iter().flatten().take(MAX_CANDIDATES).flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok().filter(|name| !is_draft(name)));
    let is_shown = |name: &String| {
        let path = path.child(name).ok().filter(|path| !sight.hides(dir, name, path));
        path.is_some_and(|path| cx.require(Access::Read, "fs", path.as_str()).is_ok())
    };
    let names: Vec<_> = names.filter(is_shown).collect();
    let near = ToolError::near(missing, names.iter().map(String::as_str));
    near.iter().filter_map(|name| path.child(name).ok()).map(|path| path.to_string()).collect()
}
