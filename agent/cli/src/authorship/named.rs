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
    let Some(repository) = Repository::nearest(root) else {
        return Vec::new();
    };
    let settings = Git::find(&repository)
        .and_then(|git| git.answer(&["config", "--includes", "--list", "-z"]));
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
    let (section, name) = (
        key.split('.').next().unwrap_or_default(),
        key.rsplit('.').next().unwrap_or_default(),
    );
    let named = |path, is_folder| NamedPath { path, is_folder };
    match (section, name) {
        ("core", "hookspath") => vec![named(place(&repository.top, value), true)],
        ("include" | "includeif", "path") => vec![named(place(&repository.git(), value), false)],
        (section, _) if WITHOUT_FILES.contains(&section) => Vec::new(),
        _ => words(value)
            .filter_map(|word| file(&repository.top, word))
            .map(|path| named(path, false))
            .collect(),
    }
}

/// Returns the parts of a value that may be paths: its words, those within quotes with their spaces, and the path at the end of an option.
pub(crate) fn words(value: &str) -> impl Iterator<Item = &str> {
    let words =
        value.split(|letter: char| letter.is_whitespace() || "!\"'=;|&()`<>".contains(letter));
    let of_options = words.clone().filter(|word| !word.starts_with('/'));
    let of_options = of_options.filter_map(|word| word.find('/').map(|at| &word[at..]));
    words
        .clone()
        .chain(value.split(['"', '\'']).map(str::trim))
        .chain(of_options)
        .filter(|word| !word.is_empty())
}

/// Returns the file that a word names. A missing one counts unless the word is a plain name, because who creates it chooses what git runs.
pub(crate) fn file(folder: &Path, word: &str) -> Option<PathBuf> {
    let path = place(folder, word);
    (path.is_file() || word.contains('/') && !path.exists()).then_some(path)
}

/// Returns the path of a text below the home or a folder.
pub(crate) fn place(folder: &Path, text: &str) -> PathBuf {
    let below = ["~/", "$HOME/", "${HOME}/"]
        .iter()
        .find_map(|home| text.strip_prefix(home));
    match (below, std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(below),
        _ => folder.join(text),
    }
}
