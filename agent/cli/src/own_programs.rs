//! The files of a workspace that other programs of the person run by their place: those that git's settings name, and those on the `PATH`.

use std::path::{Path, PathBuf};

use tools::ToolContext;
use tools::policy::{SensitivePath, Sensitivity};
use tools_builtin::fs::Workspace;

use crate::authorship::{NamedPath, named_paths};

/// The note of a file that git's settings name.
const OF_GIT: &str = "named by a setting of git, which runs or obeys it";

/// The note of a program on the path.
const ON_PATH: &str = "a program in a folder of the PATH, which shells run by its name";

/// The name of a folder for programs. The others on a path, such as those of build outputs, are written by the tools that own them.
const PROGRAMS: &str = "bin";

/// Adds the files to the sensitive paths of a context.
pub(crate) fn protect(cx: ToolContext, workspace: &Workspace) -> ToolContext {
    let of_git = named_paths(workspace.root())
        .into_iter()
        .map(|named| (named, OF_GIT));
    let on_path = folders(workspace.root()).into_iter().map(|path| {
        (
            NamedPath {
                path,
                is_folder: true,
            },
            ON_PATH,
        )
    });
    let entries = of_git
        .chain(on_path)
        .flat_map(|(NamedPath { path, is_folder }, note)| {
            let end = if is_folder { "/**" } else { "" };
            let below = workspace
                .paths_to(path)
                .into_iter()
                .filter(|below| below != ".");
            let entry = move |below: String| {
                SensitivePath::new(format!("/{below}{end}"), Sensitivity::RunsByItself, note)
            };
            below.filter_map(move |below| entry(below).ok())
        });
    let paths = cx
        .sensitive_paths()
        .clone()
        .with_paths(entries.collect::<Vec<_>>());
    cx.with_sensitive_paths(paths)
}

/// Returns the folders for programs on the `PATH` below a root, and the one that login shells add. Those in a dot folder are in the table.
fn folders(root: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_home = std::env::home_dir().map(|home| home.join(PROGRAMS));
    let is_plain = |folder: &PathBuf| {
        let names = folder
            .strip_prefix(root)
            .ok()
            .map(|below| below.iter().map(|name| name.to_string_lossy()));
        folder.ends_with(PROGRAMS)
            && names.is_some_and(|mut names| !names.any(|name| is_tool_folder(&name)))
    };
    std::env::split_paths(&path)
        .chain(of_home)
        .filter(is_plain)
        .collect()
}

/// Returns true for a dot folder and a folder of dependencies, in which tools such as `pip` write programs.
fn is_tool_folder(name: &str) -> bool {
    name.starts_with('.') || ["node_modules", "vendor", "venv"].contains(&name)
}
