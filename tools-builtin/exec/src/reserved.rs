//! The places in writable trees that walls cannot keep from a program before they exist.

use std::fs;
use std::path::{Path, PathBuf};

use tools::ToolError;
use tools_workspace::Workspace;

use crate::report::show_path;

/// Creates the reserved folders that are missing in these writable trees, so that walls can keep them. Blocks.
///
/// # Errors
/// - Returns an error if a folder cannot be created.
/// - Returns an error if a program could replace a link to a hidden path, or create the file to which one leads.
pub(crate) fn reserve(
    workspace: &Workspace,
    writable: &[PathBuf],
    reserved: &[PathBuf],
) -> Result<(), ToolError> {
    let root = workspace.root();
    for folder in reserved.iter().flat_map(|place| below(workspace, place)) {
        // A link has a path of its own for its target.
        let is_missing = fs::symlink_metadata(&folder).is_err() && without_links(&folder) == folder;
        if is_missing && writable.iter().any(|tree| folder.starts_with(tree)) {
            create(&folder).map_err(|error| {
                let folder = show_path(&folder, root);
                ToolError::execution_failed(format!(
                    "{folder} cannot be created: {error}; programs must not create it, so ask the user to, or narrow the grant of writes"
                ))
            })?;
        }
    }
    let hidden = workspace.hidden_paths().iter();
    let hidden: Vec<_> = hidden.map(|path| without_links(path)).collect();
    let is_writable = |path: &Path| lies_in(path, writable) && !lies_in(path, &hidden);
    for place in workspace.hidden_paths() {
        for path in below(workspace, place) {
            if let Some(link) = path
                .ancestors()
                .find(|path| path.is_symlink() && is_writable(path))
            {
                return Err(ToolError::execution_failed(format!(
                    "{} is a symbolic link, so programs could replace it, although it leads to what no tool may access; narrow the \
                     grant of writes",
                    show_path(link, root)
                )));
            }
            if place.is_symlink() && !place.exists() && is_writable(&path) {
                return Err(ToolError::execution_failed(format!(
                    "a link that no tool may change leads nowhere, and programs could create {}; narrow the grant of writes, or ask \
                     the user to create the file",
                    show_path(&path, root)
                )));
            }
        }
    }
    Ok(())
}

/// Returns the paths of a place below the root.
fn below(workspace: &Workspace, place: &Path) -> impl Iterator<Item = PathBuf> {
    let paths = workspace.paths_to(place).into_iter();
    paths.map(|path| workspace.root().join(path))
}

fn lies_in(path: &Path, trees: &[PathBuf]) -> bool {
    trees.iter().any(|tree| path.starts_with(tree))
}

/// Creates a folder and those above it, for the user alone.
fn create(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns the path to which the links in `path` lead. Parts that do not exist stay as they are.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    let resolved = path
        .ancestors()
        .find_map(|above| Some((above, above.canonicalize().ok()?)));
    match resolved.and_then(|(above, real)| Some((path.strip_prefix(above).ok()?, real))) {
        Some((rest, real)) if rest.as_os_str().is_empty() => real,
        Some((rest, real)) => real.join(rest),
        None => path.to_owned(),
    }
}
