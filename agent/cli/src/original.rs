//! [`Originals`]: the files of a workspace before a session changed them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use similar::TextDiff;

use crate::visible::visible;

/// The most files that are kept.
const MOST_FILES: usize = 2000;

/// The most bytes of a file that is kept.
const LARGEST: u64 = 256 * 1024;

/// The most bytes of all files that are kept.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The most folders inside of each other.
const DEEPEST: usize = 16;

/// The time limit for finding the shortest difference of a file. After that, a longer one is used.
const MAX_TIME: Duration = Duration::from_millis(500);

/// The file by which programs mark a folder as one that they can make anew.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// The folder of packages that programs load.
const PACKAGES: &str = "node_modules";

/// The files of a workspace before the first call that could change them.
///
/// All files are read before the first such call, because a program names none. Folders whose name begins with a dot, caches, links and files
/// that are too large are left out, unless a call names the file.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    files: BTreeMap<String, Content>,
    bytes: u64,
    is_read: bool,
    /// True if the workspace has more files than are kept.
    is_partial: bool,
}

/// The content of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Absent,
    Text(String),
    /// The size and the time of the last change of a file that is large or no text.
    Other(u64, Option<std::time::SystemTime>),
}

impl Originals {
    /// Keeps the files of the workspace, if they are not kept yet, and the named ones.
    pub(crate) fn keep(&mut self, root: &Path, named: &[String]) {
        if !self.is_read {
            self.is_read = true;
            let mut found = Vec::new();
            self.is_partial = !list(root, "", 0, &mut found);
            for path in found {
                self.keep_file(root, &path);
            }
        }
        for path in named {
            let mut found = vec![path.clone()];
            if root.join(path).is_dir() {
                found.clear();
                list(root, path, 0, &mut found);
            }
            found.iter().for_each(|path| self.keep_file(root, path));
        }
    }

    fn keep_file(&mut self, root: &Path, path: &str) {
        if self.files.contains_key(path) {
            return;
        }
        let content = Content::read(root, path);
        if let Content::Text(text) = &content {
            self.bytes += text.len() as u64;
        }
        if self.bytes > MOST_BYTES {
            self.is_partial = true;
            return;
        }
        self.files.insert(path.to_owned(), content);
    }

    /// Returns a unified diff of all files that are other ones than before, and true if some may be missing.
    pub(crate) fn diff(&self, root: &Path) -> (String, bool) {
        let mut paths: Vec<_> = self.files.keys().cloned().collect();
        if self.is_read && !self.is_partial {
            list(root, "", 0, &mut paths);
        }
        paths.sort_unstable();
        paths.dedup();
        let diffs = paths.iter().map(|path| {
            let before = self.files.get(path).unwrap_or(&Content::Absent);
            difference(path, before, &Content::read(root, path))
        });
        (diffs.collect(), self.is_partial)
    }
}

impl Content {
    fn read(root: &Path, path: &str) -> Self {
        let path = root.join(path);
        match path.symlink_metadata() {
            Ok(about) if about.is_file() && about.len() <= LARGEST => {
                match fs::read_to_string(path) {
                    Ok(text) if !text.contains('\0') => Self::Text(text),
                    _ => Self::Other(about.len(), about.modified().ok()),
                }
            }
            Ok(about) => Self::Other(about.len(), about.modified().ok()),
            Err(_) => Self::Absent,
        }
    }
}

/// Returns the difference of a file, or an empty text if there is none.
fn difference(path: &str, before: &Content, after: &Content) -> String {
    if before == after {
        return String::new();
    }
    let path = visible(path);
    let absent = "/dev/null";
    let (old, new) = match (before, after) {
        (Content::Absent, Content::Text(new)) => (("", absent), (new.as_str(), &*path)),
        (Content::Text(old), Content::Absent) => ((old.as_str(), &*path), ("", absent)),
        (Content::Text(old), Content::Text(new)) => {
            ((old.as_str(), &*path), (new.as_str(), &*path))
        }
        (Content::Absent, _) => return format!("{path} is new, and large or no text\n"),
        (_, Content::Absent) => return format!("{path} is gone; it was large or no text\n"),
        _ => return format!("{path} has changed, and is large or no text\n"),
    };
    let mut config = TextDiff::configure();
    let diff = config.timeout(MAX_TIME).diff_lines(old.0, new.0);
    let mut diff = diff.unified_diff();
    let text = diff.context_radius(3).header(old.1, new.1).to_string();
    if text.is_empty() {
        // The header is left out with the lines of an empty file.
        return format!(
            "{path}, an empty file, {}\n",
            if new.1 == absent { "is gone" } else { "is new" }
        );
    }
    text
}

/// Adds the files below a folder, sorted by name. Returns false if there are more than the most.
fn list(root: &Path, folder: &str, depth: usize, found: &mut Vec<String>) -> bool {
    let Ok(entries) = fs::read_dir(root.join(folder)) else {
        return true;
    };
    let entries = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, entry.file_type().ok()?))
    });
    let mut entries: Vec<_> = entries.collect();
    if depth > 0 && entries.iter().any(|(name, _)| name == CACHE_MARK) {
        return true;
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (name, kind) in entries {
        let path = if folder.is_empty() || folder == "." {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            if name != PACKAGES && (depth == DEEPEST || !list(root, &path, depth + 1, found)) {
                return false;
            }
        } else if kind.is_file() {
            if found.len() == MOST_FILES {
                return false;
            }
            found.push(path);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_since_the_first_call_is_one_difference() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let write = |path: &str, text: &str| fs::write(root.join(path), text).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("cache")).unwrap();
        write("cache/CACHEDIR.TAG", "");
        write("a.txt", "one\ntwo\n");
        write("src/gone.txt", "x\n");
        write(".dot", "old\n");
        let mut originals = Originals::default();
        originals.keep(root, &[".dot".to_owned()]);
        assert_eq!(originals.diff(root), (String::new(), false));

        write("a.txt", "one\nthree\n");
        originals.keep(root, &["a.txt".to_owned()]);
        write("a.txt", "one\nfour\n");
        fs::remove_file(root.join("src/gone.txt")).unwrap();
        write("src/new.txt", "n\n");
        write(".dot", "new\n");
        write("cache/made", "c\n");
        let (diff, is_partial) = originals.diff(root);
        for part in [
            "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+four\n",
            "--- src/gone.txt\n+++ /dev/null\n",
            "--- /dev/null\n+++ src/new.txt\n@@ -0,0 +1 @@\n+n\n",
            "-old\n+new\n",
        ] {
            assert!(diff.contains(part), "{part:?} is not in {diff}");
        }
        assert!(
            !diff.contains("three") && !diff.contains("made") && !is_partial,
            "{diff}"
        );
    }

    #[test]
    fn what_is_no_text_or_too_much_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for number in 0..=MOST_FILES {
            fs::write(root.join(format!("{number}")), "").unwrap();
        }
        let mut originals = Originals::default();
        originals.keep(root, &["z\u{1b}".to_owned()]);
        fs::write(root.join("z\u{1b}"), b"\0").unwrap();
        let (diff, is_partial) = originals.diff(root);
        assert_eq!(diff, "z\\u{1b} is new, and large or no text\n");
        assert!(is_partial);
    }
}
