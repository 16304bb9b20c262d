//! The programs in folders of the `PATH` that lie in the workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use host::settings::SensitivePlace;

/// The note of a program.
const NOTE: &str = "a program in a folder of the PATH, which shells run by its name";

/// The name of a folder for programs. The others on a path, such as those of build outputs, are written by the tools that own them.
const PROGRAMS: &str = "bin";

/// Returns the folders of programs as places whose content shells run. In the other folders on the `PATH`, those are places that shells run
/// instead of a program elsewhere, such as a `git` in the `bin` of a virtual environment.
pub(super) fn places(root: &Path) -> Vec<SensitivePlace> {
    let place = |path, is_folder| SensitivePlace {
        path,
        is_folder,
        note: NOTE,
    };
    let folders = folders(root);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (inside, elsewhere): (Vec<_>, Vec<_>) =
        std::env::split_paths(&path).partition(|folder| folder.starts_with(root));
    let others: Vec<_> = inside
        .into_iter()
        .filter(|folder| !folders.contains(folder))
        .collect();
    let names: BTreeSet<_> = if others.is_empty() {
        BTreeSet::new()
    } else {
        elsewhere
            .iter()
            .filter_map(|folder| folder.read_dir().ok())
            .flat_map(|entries| entries.flatten())
            .map(|entry| entry.file_name())
            .collect()
    };
    let hidden = others
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)))
        .map(|path| place(path, false));
    let whole = folders.iter().cloned().map(|path| place(path, true));
    whole.chain(hidden).collect()
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
