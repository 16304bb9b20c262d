//! What is below a directory, all of it.

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use tools::ToolContext;

use crate::error::FsError;
use crate::hidden::Sight;
use crate::kind::Kind;
use crate::path::RelativePath;

/// How many entries a directory may have below it to be moved or removed at once.
const MAX_ENTRIES: u64 = 100_000;

/// How deep they may be nested; one handle is open for each directory on the way.
const MAX_DEPTH: usize = 100;

/// What is done with one entry: in which directory, by which name, where that is, and what it is.
pub(crate) type Visit<'a> = dyn FnMut(&Dir, &str, &RelativePath, Kind) -> Result<(), FsError> + 'a;

/// Refuses an entry below a directory if it is hidden, for the sake of which the directory stays.
pub(crate) fn check_seen(
    sight: &Sight<'_>,
    dir: &Dir,
    name: &str,
    entry: &RelativePath,
    directory: &RelativePath,
) -> Result<(), FsError> {
    if sight.hides(dir, name, entry) { Err(FsError::LeadsToHidden { path: directory.clone() }) } else { Ok(()) }
}

/// Shows everything below a directory to `visit`, what is in a directory before the directory itself. Links are shown and
/// not followed. Gives the number of entries; unlike with a [`Tree`](crate::tree::Tree), one that cannot be shown is an error.
pub(crate) fn visit_all(
    cx: &ToolContext,
    dir: &Dir,
    path: &RelativePath,
    visit: &mut Visit<'_>,
) -> Result<u64, FsError> {
    let mut seen = 0;
    enter(cx, dir, path, MAX_DEPTH, &mut seen, visit)?;
    Ok(seen)
}

fn enter(
    cx: &ToolContext,
    dir: &Dir,
    path: &RelativePath,
    depth: usize,
    seen: &mut u64,
    visit: &mut Visit<'_>,
) -> Result<(), FsError> {
    // Before any is shown: what happens to them may change what the system lists.
    let mut names = Vec::new();
    for entry in dir.entries().map_err(FsError::io(path))? {
        *seen += 1;
        if *seen > MAX_ENTRIES {
            return Err(FsError::TooMany { path: path.clone(), limit: MAX_ENTRIES });
        }
        names.push(entry.map_err(FsError::io(path))?.file_name());
    }
    for name in names {
        cx.check_cancelled()?;
        let unspeakable = || FsError::Unspeakable { path: path.clone() };
        let name = name.to_str().ok_or_else(unspeakable)?;
        let child = path.child(name).map_err(|_| unspeakable())?;
        let kind = Kind::from(dir.symlink_metadata(name).map_err(FsError::io(&child))?.file_type());
        if kind == Kind::Directory {
            if depth == 0 {
                return Err(FsError::TooDeep { path: child, limit: MAX_DEPTH });
            }
            let below = dir.open_dir_nofollow(name).map_err(FsError::io(&child))?;
            enter(cx, &below, &child, depth - 1, seen, visit)?;
        }
        visit(dir, name, &child, kind)?;
    }
    Ok(())
}
