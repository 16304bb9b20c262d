//! The question about a new script in the root of the workspace.

use tools::protocol::Target;
use tools::{Access, Concern, ToolContext};
use tools_workspace::{Workspace, is_loaded_by_name, is_output, is_script, reads_as_script};

use crate::error::FsError;
use crate::path::RelativePath;
use crate::planned_move;
use crate::repository::{self, unless_named};
use crate::slot::Slot;

/// Returns the concern about `fs.write`: the file is new, lies in the root, and programs load or run it.
pub(crate) fn of_write(
    cx: &ToolContext,
    path: RelativePath,
    content: String,
    _parents: bool,
) -> Vec<Concern> {
    let new = concern(cx, &path, |_| is_script(content.as_bytes()), |_| false);
    let of_repository = repository::concern(cx, &path);
    new.into_iter().chain(of_repository).collect()
}

/// Returns the concern about `fs.move`, as [`of_write`] does.
pub(crate) fn of_move(
    cx: &ToolContext,
    from: RelativePath,
    to: RelativePath,
    _overwrite: bool,
) -> Vec<Concern> {
    let new = concern(
        cx,
        &to,
        |workspace| may_start(workspace, &from),
        |workspace| is_program(workspace, &from),
    );
    let of_repository = [&from, &to]
        .into_iter()
        .find_map(|path| repository::concern(cx, path))
        .or_else(|| repository::concern_of_folder(cx, &from, &to));
    let of_link = planned_move::concern(cx, &from, &to);
    new.into_iter()
        .chain(of_repository)
        .chain(of_link)
        .collect()
}

/// Refuses a new script in the root to which a link leads, because nobody was asked about it.
///
/// # Errors
/// Returns an error that names the path itself.
pub(crate) fn check_link(
    workspace: &Workspace,
    requested: &RelativePath,
    slot: &Slot,
    has_script: impl FnOnce() -> bool,
) -> Result<(), FsError> {
    let name = slot.path.as_str();
    let is_new = slot.kind.is_none();
    let is_asked = || {
        !name.contains('/')
            && (is_new || is_program_of_text(workspace, &slot.path))
            && (is_new && is_loaded_by_name(name) || has_script())
    };
    if slot.path != *requested && (is_dependency_program(&slot.path) || is_asked()) {
        return Err(FsError::NewScript {
            path: slot.path.clone(),
        });
    }
    Ok(())
}

/// Returns the concern about a file with a new content. `brings_permission` says that the file can be started by its name afterwards.
pub(crate) fn concern(
    cx: &ToolContext,
    path: &RelativePath,
    has_script: impl Fn(&Workspace) -> bool,
    brings_permission: impl Fn(&Workspace) -> bool,
) -> Option<Concern> {
    let workspace = cx.service::<Workspace>()?;
    let name = path.as_str();
    if is_dependency_program(path) {
        let target = Target::new(Access::Write, "fs", name).ok()?;
        let reason = "shells run the programs in this folder of dependencies by their name, if it is on the PATH";
        return Some(unless_named(target, reason));
    }
    if name.contains('/') {
        return None;
    }
    let is_new = workspace.dir().symlink_metadata(name).is_err();
    let reason = if !is_new
        && (brings_permission(&workspace)
            || is_program_of_text(&workspace, path) && has_script(&workspace))
    {
        "the file can be started by its name from the root of the workspace, and becomes another script or program"
    } else if !is_new {
        return None;
    } else if is_loaded_by_name(name) {
        "the file is new in the root of the workspace, and programs that start there load or run it by its name"
    } else if has_script(&workspace) {
        "the file is new in the root of the workspace and is a script or a program"
    } else {
        return None;
    };
    let target = Target::new(Access::Write, "fs", name).ok()?;
    Some(unless_named(target, reason))
}

/// Returns true for a program in a folder of dependencies, such as `.venv/bin/pytest`, or for the folder of such programs.
fn is_dependency_program(path: &RelativePath) -> bool {
    let mut below = path.names().skip_while(|name| !is_output(name));
    below.next().is_some() && below.any(|name| name == "bin")
}

/// Returns true for a file with the permission to be started that is no script yet: a program may have set the permission.
fn is_program_of_text(workspace: &Workspace, path: &RelativePath) -> bool {
    is_program(workspace, path) && !begins_as_script(workspace, path)
}

/// Returns true if the file can be started by its name, or once it has the permission.
pub(crate) fn may_start(workspace: &Workspace, path: &RelativePath) -> bool {
    is_program(workspace, path) || begins_as_script(workspace, path)
}

fn is_program(workspace: &Workspace, path: &RelativePath) -> bool {
    let metadata = workspace.dir().metadata(path.as_str());
    metadata.is_ok_and(|metadata| metadata.is_file() && is_executable(&metadata))
}

fn is_executable(metadata: &cap_std::fs::Metadata) -> bool {
    use cap_std::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o111 != 0
}

/// Returns true if the file begins like a script. A file that cannot be read does not.
fn begins_as_script(workspace: &Workspace, path: &RelativePath) -> bool {
    let metadata = workspace.dir().metadata(path.as_str());
    let is_file = metadata.is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| workspace.dir().open(path.as_str()));
    file.is_some_and(|file| file.is_ok_and(reads_as_script))
}
