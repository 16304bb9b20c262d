//! Finds the files that changed since a program began.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;

use host::placed::change_time;

use super::{WrittenFile, is_document, relative};

/// The most entries that are looked at.
const MAX_ENTRIES: usize = 500_000;

/// The most folders inside of each other. One below stands for all that is in it.
const MAX_DEPTH: usize = 256;

/// Adds the entries of a tree that changed after a time. A folder changes with each entry that is added, moved or removed in it, and when
/// it is moved itself. An entry that cannot be read stands for all that is in it, and so does the tree if it has too many.
pub(super) fn add_changed(
    root: &Path,
    tree: &Path,
    from: u64,
    found: &mut BTreeMap<String, WrittenFile>,
) {
    changed_among((root, tree), from, MAX_ENTRIES, found);
}

fn changed_among(
    (root, tree): (&Path, &Path),
    from: u64,
    most: usize,
    found: &mut BTreeMap<String, WrittenFile>,
) {
    let mut waiting = vec![(tree.to_owned(), MAX_DEPTH)];
    let mut add = |path: &Path, at: u64, is_whole: bool, is_document: bool| {
        let path = path.strip_prefix(root).map(relative).unwrap_or_default();
        found.insert(
            path.clone(),
            WrittenFile {
                path,
                at,
                is_whole,
                is_document,
            },
        );
    };
    let mut count = 0;
    while let Some((path, depth)) = waiting.pop() {
        count += 1;
        if count > most {
            return add(tree, from, true, false);
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let at = change_time(&metadata);
        let is_changed = at >= from;
        if !metadata.is_dir() {
            // By another name, a document can be code.
            if is_changed {
                add(
                    &path,
                    at,
                    false,
                    is_document(&path) && !has_other_name(&metadata),
                );
            }
            continue;
        }
        match fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
            Ok(entries) if depth > 0 => {
                // The folder of git is no code of a server, and reading commands change it.
                waiting.extend(
                    entries
                        .iter()
                        .filter(|entry| entry.file_name() != ".git")
                        .map(|entry| (entry.path(), depth - 1)),
                );
                if is_changed {
                    add(&path, at, false, false);
                }
            }
            _ => add(&path, at, true, false),
        }
    }
}

fn has_other_name(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_with_too_many_entries_counts_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        ["a", "b"]
            .iter()
            .for_each(|file| fs::write(root.join(file), "").unwrap());
        let whole = |most: usize| {
            let mut found = BTreeMap::new();
            changed_among((root, root), u64::MAX, most, &mut found);
            found
                .get("")
                .is_some_and(|file| file.is_whole && !file.is_document)
        };
        assert_eq!((whole(3), whole(2)), (false, true));
    }

    #[test]
    fn the_folder_of_git_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        ["file", ".git/index"]
            .iter()
            .for_each(|file| fs::write(folder.path().join(file), "").unwrap());
        let mut found = BTreeMap::new();
        add_changed(folder.path(), folder.path(), 0, &mut found);
        assert_eq!(found.into_keys().collect::<Vec<_>>(), ["", "file"]);
    }

    #[test]
    fn a_folder_that_is_too_deep_counts_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let deepest = ["d"; MAX_DEPTH + 2].join("/");
        fs::create_dir_all(folder.path().join(&deepest)).unwrap();
        let mut found = BTreeMap::new();
        add_changed(folder.path(), folder.path(), 0, &mut found);
        let last = found.values().last().unwrap();
        assert!(last.is_whole && last.path.len() < deepest.len());
    }
}
