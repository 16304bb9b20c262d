//! Repositories of git under names of their own, such as `project.git`: git takes each folder with a `HEAD` for one.

use std::path::Path;

use tools::protocol::Target;
use tools::{Access, Concern, ToolContext};
use tools_workspace::{
    Workspace, is_checkout, is_folder_of_git, is_repository_data, is_repository_folder,
    is_repository_setting,
};

use crate::path::RelativePath;

/// The names of a folder of git.
const FOLDERS: &str = ".git .bare";

fn contains(names: &str, name: &str) -> bool {
    names.split(' ').any(|one| one.eq_ignore_ascii_case(name))
}

/// Returns the concern about a target that a clause does not name.
pub(crate) fn unless_named(target: Target, reason: &str) -> Concern {
    let clause = target.to_clause();
    let remedy = format!("ask for a grant that names it, such as {clause}");
    Concern::new(target, reason, remedy).unless_named()
}

/// Returns the concern about a write of a part of a repository.
pub(crate) fn concern(cx: &ToolContext, path: &RelativePath) -> Option<Concern> {
    let workspace = cx.service::<Workspace>()?;
    holds(&workspace, path).then(|| question(path))?
}

/// Returns the concern about a folder that is moved into a folder of git, or becomes one: what it brings may be settings.
pub(crate) fn concern_of_folder(
    cx: &ToolContext,
    from: &RelativePath,
    to: &RelativePath,
) -> Option<Concern> {
    let workspace = cx.service::<Workspace>()?;
    let from = workspace.dir().symlink_metadata(from.as_str()).ok()?;
    let is_of_git = to.names().any(|name| contains(FOLDERS, name));
    (from.is_dir() && is_of_git).then(|| question(to))?
}

fn question(path: &RelativePath) -> Option<Concern> {
    let target = Target::new(Access::Write, "fs", path.as_str()).ok()?;
    let reason = "it is a part of a folder that git takes for a repository, and git runs the hooks and the commands that its \
                  configuration names";
    Some(unless_named(target, reason))
}

/// Returns true if the path is a part of a repository, or lies in one. The table of sensitive paths has the folders `.git` and `.bare`, and
/// a clause such as `fs:write:.git/**` is for the data that git writes: in them, the settings and hooks count.
pub(crate) fn holds(workspace: &Workspace, path: &RelativePath) -> bool {
    let mut below = path.names().skip_while(|name| !contains(FOLDERS, name));
    if below.next().is_some() {
        return !is_repository_data(&below.collect::<Vec<_>>());
    }
    let names = path.names().map(Some).chain([None]);
    names.enumerate().any(|(count, name)| {
        let folder = path.prefix(count);
        let exists = |inner: &Path| {
            let inner = Path::new(folder.as_str()).join(inner);
            workspace.dir().symlink_metadata(inner).is_ok()
        };
        let has = |inner: &str| exists(Path::new(inner));
        let is_known = |name| is_repository_setting(name) || is_repository_folder(name);
        name.is_some_and(is_known) && has("HEAD")
            || is_folder_of_git(has) && !name.is_some_and(|name| is_checkout(name, exists))
    })
}
