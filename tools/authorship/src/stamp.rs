//! The stamp of a folder of git, which changes with all that decides about its commits.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use host::placed::{FolderId, change_time};
use tools::Digest;

use crate::repository::{FOLDERS, GIT};

/// The most entries of a folder of git that are looked at.
const MAX_ENTRIES: usize = 500_000;

/// The entries at the top that decide about no commit. Reading commands change some of them.
const IGNORED: [&str; 6] = [
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "gc.log",
    "index",
    "logs",
];

/// Returns the stamp of a folder of git, or of a file in its place. Returns `None` if it has too many entries, or cannot be read.
pub(crate) fn stamp(git: &Path) -> Option<String> {
    let mut lines = Vec::new();
    let mut waiting = vec![(git.to_owned(), String::new())];
    while let Some((path, name)) = waiting.pop() {
        let metadata = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata.ok()?,
        };
        if metadata.is_dir() {
            for entry in fs::read_dir(&path).ok()? {
                let entry = entry.ok()?;
                let file = entry.file_name();
                let is_ignored = name.is_empty() && IGNORED.iter().any(|ignored| file == **ignored);
                if !is_ignored && Path::new(&file).extension().is_none_or(|end| end != "lock") {
                    // Two names of other bytes can look the same here, but not with the same number.
                    waiting.push((entry.path(), format!("{name}/{}", file.to_string_lossy())));
                }
            }
        }
        lines.push(format!("{name}\0{}\n", facts(&metadata)));
        if lines.len() > MAX_ENTRIES {
            return None;
        }
    }
    lines.sort_unstable();
    Some(Digest::hash_bytes(lines.concat().as_bytes()).to_string())
}

/// Returns the folders of git in a tree in which a file that decides about commits has changed since a time, in nanoseconds since 1970,
/// or that lie in a folder that was moved or changed itself, and true if the whole tree could be read. A folder with objects and refs is
/// one of git under any name.
pub(crate) fn written_below(tree: &Path, from: u64) -> (Vec<PathBuf>, bool) {
    let mut found = Vec::new();
    let mut is_whole = true;
    let mut waiting = vec![(tree.to_owned(), false)];
    let mut folders = 0;
    while let Some((folder, is_in_moved)) = waiting.pop() {
        folders += 1;
        if folders > MAX_ENTRIES {
            return (found, false);
        }
        let Some(entries) = read(&folder) else {
            is_whole = false;
            continue;
        };
        let inner: Vec<_> = entries
            .iter()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(fs::DirEntry::path)
            .collect();
        let has = |name: &&str| inner.contains(&folder.join(name));
        let is_git = folder
            .file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case(GIT));
        let is_of_git = is_git || FOLDERS.iter().all(has);
        // A rename changes the time of a folder, as each new entry does. Reading commands make some in a folder of git.
        let is_outside =
            folder != tree && !folder.iter().any(|name| name.eq_ignore_ascii_case(GIT));
        let time = fs::symlink_metadata(&folder).map_or(0, |it| change_time(&it));
        let is_moved = is_in_moved || is_outside && time >= from;
        waiting.extend(inner.into_iter().map(|inner| (inner, is_moved)));
        if is_of_git && (is_moved || is_changed(&folder, |time| time >= from)) {
            found.push(folder);
        }
    }
    (found, is_whole)
}

/// Returns true if a file or folder in a folder of git has changed at such a time, or if not all of them can be read.
pub(crate) fn is_changed(git: &Path, is_then: impl Fn(u64) -> bool) -> bool {
    let mut waiting = vec![(git.to_owned(), true)];
    let mut count = 0;
    while let Some((folder, is_top)) = waiting.pop() {
        let Some(entries) = read(&folder) else {
            return true;
        };
        for entry in entries {
            count += 1;
            let file = entry.file_name();
            let is_ignored = is_top && IGNORED.iter().any(|ignored| file == **ignored);
            if is_ignored
                || Path::new(&file)
                    .extension()
                    .is_some_and(|end| end == "lock")
            {
                continue;
            }
            match entry.metadata() {
                Ok(metadata) if is_then(change_time(&metadata)) => return true,
                Ok(metadata) if metadata.is_dir() => waiting.push((entry.path(), false)),
                _ => {}
            }
            if count > MAX_ENTRIES {
                return true;
            }
        }
    }
    false
}

/// Returns the entries of a folder: none if it is gone, or if it belongs to another user, because no program can hide files there. Returns
/// `None` if it cannot be read.
fn read(folder: &Path) -> Option<Vec<fs::DirEntry>> {
    match fs::read_dir(folder).and_then(Iterator::collect) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Vec::new()),
        Err(_) => is_of_other_user(folder).then(Vec::new),
    }
}

fn is_of_other_user(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let own = rustix::process::geteuid().as_raw();
    folder
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.uid() != own)
}

/// Describes an entry. The times of a folder change with files that do not count.
fn facts(metadata: &Metadata) -> String {
    // As in stamps of before.
    let id = Some(FolderId::from_metadata(metadata));
    if metadata.is_dir() {
        format!("folder {id:?}")
    } else {
        format!(
            "{:?} {id:?} {} {}",
            metadata.file_type(),
            metadata.len(),
            change_time(metadata)
        )
    }
}
