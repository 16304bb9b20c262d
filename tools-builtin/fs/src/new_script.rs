//! The question about a new script in the root of the workspace.

use std::io::Read;

use tools::protocol::Target;
use tools::{Access, Concern, ToolContext};

use crate::error::FsError;
use crate::path::RelativePath;
use crate::planned_move;
use crate::repository::{self, unless_named};
use crate::slot::Slot;
use crate::workspace::Workspace;

/// The ends of names of configurations that are programs.
const CONFIGURATIONS: [&str; 3] = [".config.", ".conf.", "rc."];

/// The extensions of such files.
const LANGUAGES: [&str; 13] = [
    "cjs", "coffee", "cts", "js", "jsx", "lua", "mjs", "mts", "php", "py", "rb", "ts", "tsx",
];

/// Other names of configurations that are programs. Programs load them from the folder in which they start.
const NAMES: &str = "conftest.py dangerfile.js dangerfile.ts dodo.py fabfile.py gruntfile.js gulpfile.js \
    gulpfile.mjs gulpfile.ts manage.py noxfile.py sitecustomize.py tasks.py usercustomize.py \
    wscript";

/// The extensions of scripts that a shell runs by their name, also if another program of this name is meant.
const SHELLS: [&str; 6] = ["bat", "cmd", "command", "ps1", "vbs", "wsf"];

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
    if slot.path != *requested
        && !name.contains('/')
        && (is_new || is_program_of_text(workspace, &slot.path))
        && (is_new && is_loaded(name) || has_script())
    {
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
    } else if is_loaded(name) {
        "the file is new in the root of the workspace, and programs that start there load or run it by its name"
    } else if has_script(&workspace) {
        "the file is new in the root of the workspace and is a script or a program"
    } else {
        return None;
    };
    let target = Target::new(Access::Write, "fs", name).ok()?;
    Some(unless_named(target, reason))
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

/// Returns true if programs load or run a file in the root because of its name. ASCII case does not count.
fn is_loaded(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_named = NAMES.split(' ').any(|one| one == name);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return is_named;
    };
    let is_configuration = LANGUAGES.contains(&extension)
        && CONFIGURATIONS
            .iter()
            .any(|end| format!("{stem}.").ends_with(end));
    is_configuration || SHELLS.contains(&extension) || is_named
}

/// Returns true if the file begins like a script. A file that cannot be read does not.
fn begins_as_script(workspace: &Workspace, path: &RelativePath) -> bool {
    let metadata = workspace.dir().metadata(path.as_str());
    let is_file = metadata.is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| workspace.dir().open(path.as_str()));
    file.is_some_and(|file| file.is_ok_and(reads_as_script))
}

/// Returns true if a file, which is read from its begin, is a script.
pub fn reads_as_script(file: impl Read) -> bool {
    let mut begin = Vec::new();
    file.take(5).read_to_end(&mut begin).is_ok() && is_script(&begin)
}

/// Returns true if a text begins like a script. Shells run one with a byte order mark, too.
pub(crate) fn is_script(text: &[u8]) -> bool {
    text.strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(text)
        .starts_with(b"#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_is_code_is_known_by_its_name() {
        for name in [
            "vite.config.js",
            "Eslint.Config.MJS",
            "gunicorn.conf.py",
            "karma.conf.js",
            "babelrc.js",
            "startuprc.lua",
            "conftest.py",
            "Gruntfile.js",
            "wscript",
            "npm.cmd",
            "git.bat",
            "profile.ps1",
        ] {
            assert!(is_loaded(name), "{name}");
        }
        for name in [
            "main.py",
            "config.js",
            "README.md",
            "app.config.json",
            "nginx.conf",
            "rc",
            "a.sh",
            "Makefile",
        ] {
            assert!(!is_loaded(name), "{name}");
        }
    }
}
