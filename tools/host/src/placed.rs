//! [`FolderId`]: folders, which are known by their numbers after a move.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The most folders of one look.
const MAX_LISTED: usize = 1000;

/// The most folders of a walk, and of a program with those that are gone.
pub(crate) const MAX_SEEN: usize = 20_000;

/// The most folders that are looked at for changed ones.
const MAX_CHANGED: usize = 200_000;

/// The time by which the clock of files may be behind that of the system.
pub const CLOCK_LAG: Duration = Duration::from_millis(50);

const GIT: &str = ".git";

/// Names of folders of dependencies and build outputs, which would take the room of others.
const LEFT_OUT: [&str; 4] = [".venv", "node_modules", "target", "venv"];

/// The device, number and birth of a folder, which a move leaves as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FolderId(u64, u64, u64);

/// Folders with their paths.
pub type Folders = BTreeMap<FolderId, PathBuf>;

impl FolderId {
    /// Returns that of the folder at a path. Returns `None` if there is none.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok();
        Some(Self::from_metadata(&metadata.filter(fs::Metadata::is_dir)?))
    }

    /// Returns that of an entry, which may be a file.
    pub fn from_metadata(metadata: &fs::Metadata) -> Self {
        // Only file systems on a disk use a number again. A folder of an overlay is born again with its first change.
        let is_on_disk = (metadata.dev() >> 8) & 0xfff != 0;
        let born = metadata.created().ok().filter(|_| is_on_disk);
        let born = born.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |time| time.as_nanos() as u64);
        Self(metadata.dev(), metadata.ino(), born)
    }

    /// Returns true if the folder is at this path. The device can have another number after a start of the machine.
    pub fn is_at(self, path: &Path) -> bool {
        Self::of(path).is_some_and(|Self(_, number, born)| (number, born) == (self.1, self.2))
    }

    /// Returns those of a folder and of all folders around it.
    pub fn around(path: &Path) -> BTreeSet<Self> {
        path.ancestors().filter_map(Self::of).collect()
    }
}

/// Returns the folders that are not at their paths.
pub fn find_moved(folders: &Folders) -> Folders {
    let moved = folders.iter().filter(|(id, path)| !id.is_at(path));
    moved.map(|(id, path)| (*id, path.clone())).collect()
}

/// Looks for folders at, around and below a root.
pub fn find(root: &Path, wanted: &BTreeSet<FolderId>) -> Folders {
    let mut found = Folders::new();
    if wanted.is_empty() {
        return found;
    }
    for above in root.ancestors() {
        found.extend(FolderId::of(above).map(|id| (id, above.to_owned())));
    }
    walk(&[root.to_owned()], |id, path| drop(found.insert(id, path)));
    found.retain(|id, _| wanted.contains(id));
    found
}

/// Returns the topmost folders in trees of a root that were moved or changed since a time, in nanoseconds since 1970. Left out are the root,
/// an inner root with the folders around it, and folders of git. One that cannot be read, or has no text as its path, counts, and so does
/// the root if there are too many.
pub fn find_changed(
    root: &Path,
    trees: impl IntoIterator<Item = PathBuf>,
    since: u64,
    inner: Option<&Path>,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut count = 0;
    let mut waiting: Vec<PathBuf> = trees.into_iter().collect();
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).ok();
        let Some(metadata) = metadata.filter(fs::Metadata::is_dir) else {
            continue;
        };
        count += 1;
        // Of a tree that is too large to be searched, all of it counts as changed.
        if count > MAX_CHANGED {
            return vec![root.to_owned()];
        }
        if is_git(&path) || inner == Some(&*path) {
            continue;
        }
        let is_around = path == root || inner.is_some_and(|inner| inner.starts_with(&path));
        // A move changes the record of a folder, so that one that was moved in is found, too.
        let is_changed = !is_around && change_time(&metadata) >= since;
        match fs::read_dir(&path) {
            Ok(entries) if !is_changed => waiting.extend(entries.flatten().map(|it| it.path())),
            // An unreadable folder counts as changed: nobody can look inside.
            _ => found.extend(
                path.ancestors()
                    // Records are JSON, which has no other names.
                    .find(|it| it.to_str().is_some())
                    .map(Path::to_owned),
            ),
        }
    }
    found
}

/// Returns a time in nanoseconds since 1970 that is not after that of a later change of a file, although their clock may be behind.
pub fn recently() -> u64 {
    // The kernel stamps files with a clock that it moves only at ticks.
    let now = SystemTime::now().checked_sub(CLOCK_LAG);
    let since = now.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |time| time.as_nanos() as u64)
}

/// Returns the time of the last change in nanoseconds since 1970. No program can choose it.
pub fn change_time(metadata: &fs::Metadata) -> u64 {
    let nanos = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    u64::try_from(nanos).unwrap_or_default()
}

/// Returns the place of a path after a move of a folder around it. Returns `None` for other paths.
pub fn rebase(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(from).ok()?;
    Some(to.join(below).components().collect())
}

/// Returns the root and the folders of trees: repositories first, then those near the top.
pub(crate) fn list(root: &Path, trees: &[PathBuf]) -> Vec<(FolderId, PathBuf)> {
    let root_id = FolderId::of(root).map(|id| (id, root.to_owned()));
    let mut all: Vec<_> = root_id.into_iter().collect();
    walk(trees, |id, path| all.push((id, path)));
    // Records are JSON, which has no other names.
    all.retain(|(_, path)| path.to_str().is_some());
    all.sort_by_cached_key(|(_, path)| path != root && !is_git(path) && !path.join(GIT).exists());
    all.truncate(MAX_LISTED);
    all
}

/// Visits the folders of trees, those near the top first. Of a folder of git, nothing inside.
fn walk(trees: &[PathBuf], mut visit: impl FnMut(FolderId, PathBuf)) {
    // A queue, so that the limit leaves out the deepest folders.
    let mut waiting: VecDeque<PathBuf> = trees.iter().cloned().collect();
    for _ in 0..MAX_SEEN {
        let Some(path) = waiting.pop_front() else {
            return;
        };
        let Some(id) = FolderId::of(&path) else {
            continue;
        };
        if !is_git(&path) {
            let inner = fs::read_dir(&path).into_iter().flatten().flatten();
            let inner = inner.filter(|entry| {
                !is_left_out(&entry.file_name())
                    && entry.file_type().is_ok_and(|kind| kind.is_dir())
            });
            waiting.extend(inner.map(|entry| entry.path()));
        }
        visit(id, path);
    }
}

/// Returns true for the name of a folder of dependencies or build outputs, of which a walk sees nothing inside.
pub fn is_left_out(name: &OsStr) -> bool {
    LEFT_OUT.iter().any(|one| name == *one)
}

fn is_git(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case(GIT))
}
