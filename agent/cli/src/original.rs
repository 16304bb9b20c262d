//! [`Originals`]: the files of a workspace before a session changed them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tools::counted;
use tools_text::unified_diff;

use tools::visible::visible;

/// The most files that are kept.
const MOST_FILES: usize = 2000;

/// The most bytes of a text that is kept.
const LARGEST: u64 = 256 * 1024;

/// The most bytes of all texts that are kept.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The file by which programs mark a folder as one that they can make anew, and the folder of packages that programs load.
const LEFT_OUT: [&str; 2] = ["CACHEDIR.TAG", "node_modules"];

/// The files of a workspace before the first call that could change them.
///
/// A call of which only files are the targets names them. All files are read before the first other one, because a program names none. Names
/// that begin with a dot, caches and links are left out, unless a call names the file.
#[derive(Debug, Default)]
pub(crate) struct Originals {
    /// The texts. `None` if there was no file.
    files: BTreeMap<String, Option<String>>,
    bytes: usize,
    is_read: bool,
    /// True if the workspace has more files than are kept.
    is_partial: bool,
}

impl Originals {
    /// Keeps the named files, and those of the workspace, if these are not kept yet and the call `may_change_any`.
    pub(crate) fn keep(&mut self, root: &Path, named: &[String], may_change_any: bool) {
        let mut found = Vec::new();
        if may_change_any && !self.is_read {
            self.is_read = true;
            self.is_partial = !list(root, "", &mut found);
        }
        for path in named {
            if root.join(path).is_dir() {
                list(root, path, &mut found);
            } else {
                found.push(path.clone());
            }
        }
        for path in found {
            if self.files.contains_key(&path) {
                continue;
            }
            let text = read(root, &path);
            self.bytes += text.as_ref().map_or(0, String::len);
            if self.bytes > MOST_BYTES {
                self.is_partial = true;
                return;
            }
            self.files.insert(path, text);
        }
    }

    /// Returns a unified diff of all files that are other ones than before, and true if some may be missing.
    pub(crate) fn diff(&self, root: &Path) -> (String, bool) {
        let mut paths: Vec<_> = self.files.keys().cloned().collect();
        if self.is_read && !self.is_partial {
            list(root, "", &mut paths);
        }
        paths.sort_unstable();
        paths.dedup();
        let diffs = paths.iter().map(|path| {
            let before = self.files.get(path).and_then(Option::as_deref);
            difference(path, before, read(root, path).as_deref())
        });
        (diffs.collect(), self.is_partial)
    }
}

/// Returns the text of a file, or a line about one that is large or no text. Returns `None` if there is none.
fn read(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path);
    let about = path.symlink_metadata().ok()?;
    let is_small = about.is_file() && about.len() <= LARGEST;
    let text = is_small.then(|| fs::read_to_string(path).ok()).flatten();
    Some(text.filter(|text| !text.contains('\0')).unwrap_or_else(|| {
        let size = counted(about.len(), "byte");
        format!("[{size}, large or no text, {:?}]\n", about.modified())
    }))
}

/// Returns the difference of a file, or an empty text if there is none.
fn difference(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let path = visible(path);
    let [old, new] = [before, after].map(|text| match text {
        Some(text) => (&*path, text),
        None => ("/dev/null", ""),
    });
    match unified_diff(old, new) {
        // A file without text was created or deleted.
        diff if diff.is_empty() => format!("--- {}\n+++ {}\n", old.0, new.0),
        diff => diff,
    }
}

/// Adds the files below a folder, sorted by name. Returns false if there are more than the most.
fn list(root: &Path, folder: &str, found: &mut Vec<String>) -> bool {
    let entries = fs::read_dir(root.join(folder)).into_iter().flatten();
    let entries = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, entry.file_type().ok()?))
    });
    let mut entries: Vec<_> = entries.filter(|(name, _)| !name.starts_with('.')).collect();
    if entries.iter().any(|(name, _)| name == LEFT_OUT[0]) {
        return true;
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries.into_iter().all(|(name, kind)| {
        let path = format!("{folder}/{name}");
        let path = path.trim_start_matches("./").trim_start_matches('/');
        if kind.is_dir() {
            return name == LEFT_OUT[1] || list(root, path, found);
        }
        let is_room = found.len() < MOST_FILES;
        found.extend((kind.is_file() && is_room).then(|| path.to_owned()));
        is_room
    })
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
        originals.keep(root, &[".dot".to_owned()], true);
        assert_eq!(originals.diff(root), (String::new(), false));

        write("a.txt", "one\nthree\n");
        originals.keep(root, &["a.txt".to_owned()], false);
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
    fn a_call_that_names_its_files_reads_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let write = |path: &str, text: &str| fs::write(root.join(path), text).unwrap();
        write("named", "old\n");
        write("other", "old\n");
        let mut originals = Originals::default();
        originals.keep(root, &["named".to_owned(), "empty".to_owned()], false);
        for path in ["named", "other"] {
            write(path, "new\n");
        }
        write("empty", "");
        let expected = "--- /dev/null\n+++ empty\n--- named\n+++ named\n@@ -1 +1 @@\n-old\n+new\n";
        assert_eq!(originals.diff(root), (expected.to_owned(), false));

        originals.keep(root, &[], true);
        write("other", "newer\n");
        let (diff, _) = originals.diff(root);
        assert!(
            diff.contains("-old\n+new\n") && diff.contains("-new\n+newer\n"),
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
        originals.keep(root, &["z\u{1b}".to_owned()], true);
        fs::write(root.join("z\u{1b}"), b"\0").unwrap();
        let (diff, is_partial) = originals.diff(root);
        assert!(
            diff.contains("+++ z\\u{1b}\n@@ -0,0 +1 @@\n+[1 byte, large or no text"),
            "{diff}"
        );
        assert!(is_partial);
    }
}
