//! The user's own settings of git, which hold in each repository, and the author in them.

use std::env::var_os;
use std::path::{Path, PathBuf};

use super::settings::author;
use super::text;

/// Returns settings of git with the name and the address in the user's own ones, and nothing else of them. Empty if there are none.
pub(crate) fn author_settings(root: &Path) -> String {
    author(&settings(root))
}

/// Returns the text of the user's own settings, without included files, and without those that programs of the workspace may write.
pub(super) fn settings(root: &Path) -> String {
    let home = var_os("HOME").map(PathBuf::from);
    let folder = var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| home.as_ref().map(|home| home.join(".config")));
    let files = match var_os("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![PathBuf::from(file)],
        None => {
            let of_folder = folder.map(|folder| folder.join("git/config"));
            of_folder
                .into_iter()
                .chain(home.map(|home| home.join(".gitconfig")))
                .collect()
        }
    };
    let files = files
        .iter()
        // A link elsewhere can lead to a file that programs of the workspace write.
        .filter_map(|file| file.canonicalize().ok())
        .filter(|file| !file.starts_with(root));
    files
        .filter_map(|file| text(&file))
        .collect::<Vec<_>>()
        .join("\n")
}
