//! Repositories of git under names of their own, such as `project.git`: git takes each folder with a `HEAD` for one.

use std::path::Path;

use tools::protocol::Target;
use tools::{Access, Concern, ToolContext};

use crate::path::RelativePath;
use crate::workspace::Workspace;

/// The names of a folder of git.
const FOLDERS: &str = ".git .bare";

/// The names in a folder of git that make it run programs, obey another folder, bring changes into the next commit (`MERGE_AUTOSTASH`), or
/// remove files at the next checkout (`sparse-checkout`). The rest is its data.
const SETTINGS: &str = "MERGE_AUTOSTASH alternates attributes autostash branches commondir config config.worktree git-rebase-todo \
    gitdir hooks lazygit.yml opts remotes sparse-checkout strategy strategy_opts";

/// Other names in a folder of git.
const DATA: &str = "index info logs modules objects packed-refs refs shallow worktrees";

/// The names of other folders in a folder of git.
const STATES: &str = "annex lfs rebase-apply rebase-merge reftable rr-cache sequencer svn";

/// Returns true if git takes the name, beside a `HEAD`, for its settings or hooks. ASCII case does not count.
pub fn is_repository_setting(name: &str) -> bool {
    contains(SETTINGS, name)
}

/// Returns true if the file with these names below a folder of git is data, which git writes at each commit or fetch.
pub fn is_repository_data(names: &[&str]) -> bool {
    // In the repository of a submodule, branches of a remote lie in `refs/remotes`.
    let has_setting = (0..names.len()).any(|at| {
        is_repository_setting(names[at]) && !(at > 0 && names[at - 1..=at] == ["refs", "remotes"])
    });
    // Both have the names of branches below them.
    matches!(names.first(), Some(&("logs" | "refs"))) || !has_setting
}

/// Returns true if git takes the folder for a repository, whatever its name is. `has` says whether something has a name in it.
pub fn is_folder_of_git(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// Returns true if the entry of a folder of git is a folder of files of its own, such as a worktree in a bare repository. `exists` says
/// whether something has a path below the folder of git.
pub fn is_checkout(name: &str, exists: impl Fn(&Path) -> bool) -> bool {
    !is_repository_part(name) && exists(&Path::new(name).join(".git"))
}

/// Returns true if git takes the name, in a folder of git, for its own. ASCII case does not count.
pub fn is_repository_part(name: &str) -> bool {
    [SETTINGS, DATA, STATES]
        .iter()
        .any(|names| contains(names, name))
}

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
        let is_known = |name| is_repository_setting(name) || contains(DATA, name);
        name.is_some_and(is_known) && has("HEAD")
            || is_folder_of_git(has) && !name.is_some_and(|name| is_checkout(name, exists))
    })
}
