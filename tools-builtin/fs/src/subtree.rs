//! A recursive walk of a complete subtree, for moving and removing.

use std::ops::ControlFlow;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::ToolContext;
use tools_workspace::HiddenSnapshot;

use crate::error::FsError;
use crate::kind::Kind;
use crate::path::RelativePath;

/// The maximum number of entries below a directory that is moved or removed.
const MAX_ENTRIES: u64 = 100_000;

/// The maximum depth; each level keeps one directory handle open.
const MAX_DEPTH: usize = 100;

/// A callback for one entry: its parent directory, name, path and kind. `Break` ends the walk.
pub(crate) type Visit<'a> =
    dyn FnMut(&Dir, &str, &RelativePath, Kind) -> Result<ControlFlow<()>, FsError> + 'a;

/// Returns an error if an entry below `directory` is hidden: the directory must then not be changed.
pub(crate) fn check_not_hidden(
    hidden: &HiddenSnapshot<'_>,
    dir: &Dir,
    name: &str,
    entry: &RelativePath,
    directory: &RelativePath,
) -> Result<(), FsError> {
    if hidden.hides(dir, name, entry.as_str()) {
        Err(FsError::LeadsToHidden {
            path: directory.clone(),
        })
    } else {
        Ok(())
    }
}

/// Calls `visit` for every entry below a directory until it breaks, contents before their directory. Does not follow links.
///
/// Returns the number of entries seen. Unlike [`TreeWalk`](crate::tree_walk::TreeWalk), returns an error for an entry that cannot be
/// visited.
pub(crate) fn visit_all(
    cx: &ToolContext,
    dir: &Dir,
    path: &RelativePath,
    visit: &mut Visit<'_>,
) -> Result<u64, FsError> {
    let mut seen = 0;
    enter(cx, dir, path, MAX_DEPTH, &mut seen, visit).map(|_| seen)
}

fn enter(
    cx: &ToolContext,
    dir: &Dir,
    path: &RelativePath,
    depth: usize,
    seen: &mut u64,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>, FsError> {
    // All names are read first: `visit` may change the directory.
    let mut names = Vec::new();
    for entry in dir.entries().map_err(FsError::io(path))? {
        *seen += 1;
        if *seen > MAX_ENTRIES {
            return Err(FsError::TooMany {
                path: path.clone(),
                limit: MAX_ENTRIES,
            });
        }
        names.push(entry.map_err(FsError::io(path))?.file_name());
    }
    // A removal that stops on the way leaves the `HEAD` by which the rest of a repository is known.
    names.sort_by_key(|name| name.eq_ignore_ascii_case("HEAD"));
    for name in names {
        cx.check_cancelled()?;
        let child = name
            .to_str()
            .and_then(|name| Some((name, path.child(name).ok()?)));
        let (name, child) = child.ok_or_else(|| FsError::InvalidName { path: path.clone() })?;
        let metadata = dir.symlink_metadata(name).map_err(FsError::io(&child))?;
        let kind = Kind::from(metadata.file_type());
        if kind == Kind::Directory {
            if depth == 0 {
                return Err(FsError::TooDeep {
                    path: child,
                    limit: MAX_DEPTH,
                });
            }
            let below = dir.open_dir_nofollow(name).map_err(FsError::io(&child))?;
            if enter(cx, &below, &child, depth - 1, seen, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if visit(dir, name, &child, kind)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
