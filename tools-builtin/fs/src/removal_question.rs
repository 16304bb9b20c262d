//! The question about the removal of a file that runs or configures programs by itself: nothing would protect its place afterwards.

use tools::policy::Sensitivity;
use tools::protocol::Target;
use tools::{Access, Concern, ToolContext};
use tools_workspace::{Workspace, is_output};

use crate::error::FsError;
use crate::files::Files;
use crate::path::RelativePath;
use crate::repository::{self, unless_named};

/// Returns the concern about `fs.remove`: the entry counts, or something at the top of the folder. Deeper files go with their folder.
pub(crate) fn of_remove(cx: &ToolContext, path: RelativePath, recursive: bool) -> Vec<Concern> {
    let (Some(workspace), Ok(target)) = (
        cx.service::<Workspace>(),
        Target::new(Access::Destroy, "fs", path.as_str()),
    ) else {
        return Vec::new();
    };
    let reason = if counts(Files::new(cx, &workspace), &path) {
        "it runs or configures programs by itself, or leads to a file that does, and nothing would protect its place afterwards"
    } else if recursive && has_at_top(Files::new(cx, &workspace), &path) {
        "the folder has something at its top that runs or configures programs by itself"
    } else {
        return Vec::new();
    };
    vec![unless_named(target, reason)]
}

/// Refuses a change that nobody was asked about, because a link leads to its place or a tool of another crate makes it: the removal of an
/// entry that counts, or another change of a part of a repository.
///
/// # Errors
/// Returns an error that names the path itself.
pub(crate) fn check_unasked(
    files: Files<'_>,
    accesses: &[Access],
    path: &RelativePath,
) -> Result<(), FsError> {
    let is_unasked = match accesses {
        [Access::Destroy] => counts(files, path),
        _ => repository::holds(files.workspace, path),
    };
    if is_unasked {
        return Err(FsError::Unasked { path: path.clone() });
    }
    Ok(())
}

/// Returns true if the table has the entry, or if it is a part of a repository.
pub(crate) fn is_listed(files: Files<'_>, path: &RelativePath) -> bool {
    let entry = files.cx.sensitive_paths().find(path.as_str());
    let of_table = entry.is_some_and(|entry| {
        entry.sensitivity == Sensitivity::RunsByItself
            && entry.describe(path.as_str()) == entry.note
    });
    of_table || repository::holds(files.workspace, path)
}

/// Returns true if the entry is listed, or lies on the way to a listed one and is no folder of outputs.
fn counts(files: Files<'_>, path: &RelativePath) -> bool {
    is_listed(files, path)
        || !path.names().last().is_some_and(is_output) && runs_by_itself(files, path)
}

fn runs_by_itself(files: Files<'_>, path: &RelativePath) -> bool {
    let entry = files.cx.sensitive_paths().find(path.as_str());
    entry.is_some_and(|entry| entry.sensitivity == Sensitivity::RunsByItself)
}

fn has_at_top(files: Files<'_>, path: &RelativePath) -> bool {
    let metadata = files.workspace.dir().symlink_metadata(path.as_str());
    let is_folder = metadata.is_ok_and(|metadata| metadata.is_dir());
    if !is_folder || path.names().last().is_some_and(is_output) {
        return false;
    }
    let entries = files.workspace.dir().read_dir(path.as_str());
    entries.into_iter().flatten().flatten().any(|entry| {
        let child = entry.file_name().to_str().map(|name| path.child(name));
        child.is_some_and(|child| child.is_ok_and(|child| counts(files, &child)))
    })
}
