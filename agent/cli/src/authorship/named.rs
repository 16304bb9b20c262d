//! The files of a workspace that its repository's settings name, such as a folder of hooks.

use std::path::{Path, PathBuf};

use super::git::Git;
use super::repository::Repository;

/// A file or folder that git runs or reads because of a setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) path: PathBuf,
    /// True if all that is in it counts.
    pub(crate) is_folder: bool,
}

/// The sections whose values are no files of the workspace.
const WITHOUT_FILES: [&str; 5] = ["branch", "remote", "submodule", "url", "user"];

/// Returns the files that the settings of the repository of a folder name. Relative ones lie below the top of the repository, and included
/// settings below the folder of git.
pub(crate) fn named_paths(root: &Path) -> Vec<NamedPath> {
    let Some(repository) = Repository::find(root) else {
        return Vec::new();
    };
    let settings = Git::find(&repository)
        .and_then(|git| git.answer(&["config", "--local", "--includes", "--list", "-z"]));
    let settings = String::from_utf8_lossy(&settings.unwrap_or_default()).into_owned();
    let settings = settings
        .split('\0')
        .filter_map(|setting| setting.split_once('\n'));
    settings
        .flat_map(|(key, value)| paths_of(&repository, key, value))
        .collect()
}

/// Returns the paths that a value names. The name of a key is in small letters, except for the middle part.
fn paths_of(repository: &Repository, key: &str, value: &str) -> Vec<NamedPath> {
    let place = |folder: &Path, text: &str| match (text.strip_prefix("~/"), std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(below),
        _ => folder.join(text),
    };
    let (section, name) = (
        key.split('.').next().unwrap_or_default(),
        key.rsplit('.').next().unwrap_or_default(),
    );
    match (section, name) {
        ("core", "hookspath") => vec![NamedPath {
            path: place(&repository.top, value),
            is_folder: true,
        }],
        ("include" | "includeif", "path") => {
            vec![NamedPath {
                path: place(&repository.git(), value),
                is_folder: false,
            }]
        }
        (section, _) if WITHOUT_FILES.contains(&section) => Vec::new(),
        _ => {
            let words =
                value.split(|letter: char| letter.is_whitespace() || "!\"'=;|&()".contains(letter));
            let paths = words
                .filter(|word| !word.is_empty())
                .map(|word| place(&repository.top, word));
            paths
                .filter(|path| path.is_file())
                .map(|path| NamedPath {
                    path,
                    is_folder: false,
                })
                .collect()
        }
    }
}
