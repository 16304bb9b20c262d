//! [`Completion`]: completes commands and paths by Tab.

use std::fs;
use std::path::PathBuf;

use tools::ToolContext;

use super::command;
use tools::visible::visible;

/// The most candidates for one word.
const MOST: usize = 200;

/// Completes the name of a command at the beginning of a line, and the path of a file or a folder of the workspace elsewhere.
///
/// Hidden and [sensitive](tools::policy::SensitivePaths) paths, files that the session cannot read and folders outside of the workspace are
/// left out.
pub(crate) struct Completion {
    /// The root, without links.
    pub(crate) root: PathBuf,
    pub(crate) cx: ToolContext,
}

impl Completion {
    /// Returns the position of the word before the cursor, and the words that it may become.
    pub(crate) fn candidates(&self, before: &str) -> (usize, Vec<String>) {
        let last = before.char_indices().rfind(|(_, c)| c.is_whitespace());
        let start = last.map_or(0, |(at, c)| at + c.len_utf8());
        let word = &before[start..];
        if start == 0 && word.starts_with('/') {
            let names = command::names().into_iter();
            return (0, names.filter(|name| name.starts_with(word)).collect());
        }
        let path = word.strip_prefix('@');
        let path = path.or_else(|| word.strip_prefix('!').filter(|_| start == 0));
        // Without a model, a path is the value of an argument.
        let path = path.or_else(|| word.split_once('=').map(|(_, value)| value));
        let path = path.unwrap_or(word);
        (before.len() - path.len(), self.paths(path))
    }

    /// Returns the paths that begin with these characters, those of folders with a slash at the end.
    fn paths(&self, typed: &str) -> Vec<String> {
        let (folder, name) = typed
            .rsplit_once('/')
            .map_or(("", typed), |(folder, name)| (folder, name));
        if folder.split('/').any(|part| part.starts_with('.')) {
            return Vec::new();
        }
        let start = &typed[..typed.len() - name.len()];
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten();
        let names = entries.flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        // A name with a space would be several words, and one with a control character would command the terminal.
        let names = names.filter(|other| {
            other.starts_with(name)
                && !other.starts_with('.')
                && !other.contains([' ', '\'', '"', '\\'])
                && visible(other) == *other
        });
        let paths = names.map(|name| format!("{start}{name}"));
        let mut paths: Vec<_> = paths
            .filter_map(|path| self.completed(path))
            .take(MOST)
            .collect();
        paths.sort_unstable();
        paths
    }

    /// Returns a path with a slash at the end if it is a folder. Returns `None` if it is left out.
    fn completed(&self, path: String) -> Option<String> {
        if self.cx.sensitive_paths().find(&path).is_some() {
            return None;
        }
        let place = self.root.join(&path).canonicalize().ok()?;
        if !place.starts_with(&self.root) {
            return None;
        }
        if place.is_dir() {
            return Some(path + "/");
        }
        (place.is_file() && host::open_file(&self.cx, &path).is_some()).then_some(path)
    }
}
