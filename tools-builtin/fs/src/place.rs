//! [`Place`]: where a path leads.

use std::io;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, OpenOptions};
use tools::{Access, ToolContext};

use crate::Workspace;
use crate::error::{FsError, LinkFault};
use crate::kind::Kind;
use crate::path::RelativePath;

/// How many links a path may pass, as on Linux.
const MAX_LINKS: usize = 40;

/// How many entries of a directory are looked through for names like one that is missing.
const MAX_CANDIDATES: usize = 10_000;

/// How alike two names have to be, from 0 to 1, for one to be offered in place of the other.
const ALIKE: f64 = 0.85;

/// An entry of a directory that is held open. Nothing that happens to the directories above it can lead to another one.
#[derive(Debug)]
pub(crate) struct Place {
    /// The path by which it was reached in the end, without links.
    pub(crate) path: RelativePath,
    /// What it was when it was found. Never a link.
    pub(crate) kind: Kind,
    parent: Dir,
    name: String,
}

enum Walk {
    Found(Place),
    /// The path goes on here.
    Link(RelativePath),
}

impl Place {
    /// Finds where a path leads.
    ///
    /// The way is walked one directory at a time, and nothing on it is followed without being looked at: a link turns the
    /// path into another one, which has to lie below the root and be covered by the grant as if it had been asked for. The
    /// directory handles refuse to step out in any case, whatever happens to the tree meanwhile.
    pub(crate) fn find(cx: &ToolContext, workspace: &Workspace, path: &RelativePath) -> Result<Self, FsError> {
        let mut current = path.clone();
        for _ in 0..=MAX_LINKS {
            match walk(cx, workspace.dir(), &current)? {
                Walk::Found(place) => return Ok(place),
                Walk::Link(next) => current = next,
            }
            cx.require(Access::Read, "fs", current.as_str())?;
        }
        Err(FsError::TooManyLinks { path: path.clone(), limit: MAX_LINKS })
    }

    /// Opens it for reading, if it is a regular file. Never waits, whatever it may have turned into since it was found: the
    /// other end of a pipe need not exist.
    pub(crate) fn open_file(&self) -> Result<File, FsError> {
        self.check_file(self.kind)?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self.parent.open_with(&self.name, &options).map_err(FsError::io(&self.path))?;
        let metadata = file.metadata().map_err(FsError::io(&self.path))?;
        self.check_file(metadata.file_type().into())?;
        Ok(file)
    }

    /// Opens it, if it is a directory.
    pub(crate) fn open_dir(&self) -> Result<Dir, FsError> {
        match self.kind {
            Kind::Directory => self.parent.open_dir_nofollow(&self.name).map_err(FsError::io(&self.path)),
            kind => Err(FsError::NotListable { path: self.path.clone(), kind }),
        }
    }

    fn check_file(&self, kind: Kind) -> Result<(), FsError> {
        match kind {
            Kind::File => Ok(()),
            Kind::Directory => Err(FsError::IsADirectory { path: self.path.clone() }),
            kind => Err(FsError::Special { path: self.path.clone(), kind }),
        }
    }
}

/// Goes down a path, up to its end or to the first link on it.
fn walk(cx: &ToolContext, root: &Dir, path: &RelativePath) -> Result<Walk, FsError> {
    let mut parent = root.try_clone().map_err(FsError::io(path))?;
    let mut names = path.names().enumerate().peekable();
    while let Some((index, name)) = names.next() {
        let here = path.prefix(index + 1);
        let kind = match parent.symlink_metadata(name) {
            Ok(metadata) => Kind::from(metadata.file_type()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let near = near(cx, &parent, &path.prefix(index), name);
                return Err(FsError::Missing { path: here, near });
            }
            Err(source) => return Err(FsError::Io { path: here, source }),
        };
        match kind {
            Kind::Link => {
                let destination = parent.read_link_contents(name).map_err(FsError::io(&here))?;
                let next = destination.to_str().ok_or(LinkFault::NotUtf8);
                let next = next.and_then(|destination| Ok(path.through_link(index, destination)?));
                return next.map(Walk::Link).map_err(|reason| FsError::Link { link: here, reason });
            }
            kind if names.peek().is_none() => {
                return Ok(Walk::Found(Place { path: here, kind, parent, name: name.to_owned() }));
            }
            Kind::Directory => parent = parent.open_dir_nofollow(name).map_err(FsError::io(&here))?,
            kind => return Err(FsError::NotADirectory { path: here, kind }),
        }
    }
    Ok(Walk::Found(Place { path: path.clone(), kind: Kind::Directory, parent, name: ".".to_owned() }))
}

/// Up to three entries of a directory with a name like a missing one, the most alike first. What the grant does not cover
/// is not named.
fn near(cx: &ToolContext, dir: &Dir, path: &RelativePath, missing: &str) -> Vec<String> {
    let missing = missing.to_lowercase();
    let entries = dir.entries().into_iter().flatten().take(MAX_CANDIDATES).flatten();
    let mut near: Vec<(f64, RelativePath)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let likeness = strsim::jaro_winkler(&missing, &name.to_lowercase());
            (likeness >= ALIKE).then_some((likeness, path.child(&name).ok()?))
        })
        .filter(|(_, path)| cx.require(Access::Read, "fs", path.as_str()).is_ok())
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.as_str().cmp(b.1.as_str())));
    near.into_iter().take(3).map(|(_, path)| path.to_string()).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixture::Fixture;

    /// What happens when a place is changed after it was found and before it is opened.
    fn opened_after(change: impl FnOnce(&Fixture)) -> (Result<File, FsError>, Result<Dir, FsError>) {
        let fixture = Fixture::new();
        fixture.write("file", "");
        fixture.write("dir/x", "");
        let workspace = Workspace::open(fixture.root()).unwrap();
        let find = |path: &str| {
            let path = path.to_owned().try_into().unwrap();
            Place::find(&ToolContext::new(), &workspace, &path).unwrap()
        };
        let (file, dir) = (find("file"), find("dir"));
        fs::rename(fixture.root().join("file"), fixture.root().join("old_file")).unwrap();
        fs::rename(fixture.root().join("dir"), fixture.root().join("old_dir")).unwrap();
        change(&fixture);
        (file.open_file(), dir.open_dir())
    }

    #[test]
    fn what_has_become_a_link_is_not_followed() {
        let (file, dir) = opened_after(|fixture| {
            fixture.link("old_file", "file");
            fixture.link("old_dir", "dir");
        });
        assert!(matches!((file, dir), (Err(FsError::Io { .. }), Err(FsError::Io { .. }))));
    }

    #[test]
    fn what_has_become_a_pipe_is_not_waited_for() {
        let (file, dir) = opened_after(|fixture| {
            fixture.pipe("file");
            fixture.pipe("dir");
        });
        assert!(matches!((file, dir), (Err(FsError::Special { kind: Kind::Pipe, .. }), Err(FsError::Io { .. }))));
    }

    #[test]
    fn what_has_become_a_directory_is_no_file() {
        let (file, _) = opened_after(|fixture| fixture.write("file/x", ""));
        assert!(matches!(file, Err(FsError::IsADirectory { .. })));
    }
}
