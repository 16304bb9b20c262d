//! The programs in folders of the `PATH` that lie in the workspace.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use host::folders;
use host::settings::SensitivePlace;
use tools_workspace::Workspace;

/// The note of a program.
const NOTE: &str = "a program in a folder of the PATH, which shells run by its name";

/// The name of a folder for programs. The others on a path, such as those of build outputs, are written by the tools that own them.
const PROGRAMS: &str = "bin";

/// Returns the folders of programs as places whose content shells run. In the other folders on the `PATH`, those are places that shells run
/// instead of a program elsewhere, such as a `git` in the `bin` of a virtual environment.
pub(super) fn places(workspace: &Workspace) -> Vec<SensitivePlace> {
    let (inside, elsewhere): (Vec<_>, Vec<_>) = folders::of_programs(workspace.root())
        .into_iter()
        // The root itself has no path, but its files have.
        .partition(|folder| !workspace.paths_to(folder.join(PROGRAMS)).is_empty());
    let (whole, others): (Vec<_>, Vec<_>) = inside.into_iter().partition(|folder| {
        let paths = workspace.paths_to(folder);
        paths.iter().any(|path| is_for_programs(Path::new(path))) || has_name(folder, workspace)
    });
    let names: BTreeSet<_> = elsewhere
        .iter()
        .filter(|_| !others.is_empty())
        .filter_map(|folder| folder.read_dir().ok())
        .flat_map(|entries| entries.flatten())
        .map(|entry| entry.file_name())
        .collect();
    let others: BTreeSet<PathBuf> = others.into_iter().collect();
    let hidden = others
        .iter()
        .flat_map(|folder| names.iter().map(|name| (folder.join(name), false)));
    let whole = whole.into_iter().map(|path| (path, true));
    let places = whole.chain(hidden).map(|(path, is_folder)| SensitivePlace {
        path,
        is_folder,
        note: NOTE,
    });
    places.collect()
}

/// Returns true for a folder of programs that has its name outside of the workspace only: the root itself, or the target of a link.
fn has_name(folder: &Path, workspace: &Workspace) -> bool {
    let is_root = folder
        .canonicalize()
        .is_ok_and(|folder| folder == workspace.root());
    // Its own name and that of the folder around it, such as of a virtual environment.
    let names: PathBuf = folder
        .iter()
        .skip(folder.iter().count().saturating_sub(2))
        .collect();
    is_root && is_for_programs(&names) || folder.is_symlink() && folder.ends_with(PROGRAMS)
}

/// Returns true for a folder of programs that is not in a dot folder, which is in the table, or in one of dependencies, in which tools such as
/// `pip` write programs.
fn is_for_programs(folder: &Path) -> bool {
    folder.ends_with(PROGRAMS)
        && !folder.iter().any(|name| {
            let name = name.to_string_lossy();
            name.starts_with('.') || ["node_modules", "vendor", "venv"].contains(&&*name)
        })
}
