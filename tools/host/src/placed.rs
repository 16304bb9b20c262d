//! [`FolderId`]: folders, which are known by their numbers after a move.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::open_folder::OpenFolder;

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

    /// Returns that of a folder at or below a root. Returns `None` if there is none, or a link on the way.
    pub fn below(root: &Path, path: &Path) -> Option<Self> {
        let below = path.strip_prefix(root).ok()?;
        let folder = OpenFolder::open(root).ok()?.open_below(below).ok()?;
        Some(Self::from_metadata(&folder.metadata().ok()?))
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
    walk(root, &[root.to_owned()], |id, path| {
        found.insert(id, path);
    });
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
    let mut waiting: Vec<Place> = places(root, trees).collect();
    while let Some(place) = waiting.pop() {
        let Some((folder, metadata)) = place.open() else {
            continue;
        };
        let path = place.path.clone();
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
        match folder.read_dir() {
            Ok(entries) if !is_changed => {
                let names = entries.flatten().map(|entry| entry.file_name());
                waiting.extend(names.map(|name| place.inner(&name)));
            }
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

/// Returns the times of the last change of an open file and of the folders around its path below the root. A rename changes that of what
/// it moves.
pub fn change_times(root: &Path, path: &Path, file: Option<fs::Metadata>) -> Vec<Option<u64>> {
    let around = path.ancestors().skip(1).take_while(|it| *it != root);
    let around = around.map(|it| it.symlink_metadata().ok());
    let files = [file].into_iter().chain(around);
    files.map(|it| it.as_ref().map(change_time)).collect()
}

/// Returns the place of a path after a move of a folder around it. Returns `None` for other paths.
pub fn rebase(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(from).ok()?;
    Some(to.join(below).components().collect())
}

/// Returns a path without `.` and `..`, as its text says.
pub fn normalise(path: &Path) -> PathBuf {
    let mut normalised = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normalised.pop()),
            part => normalised.push(part),
        }
    }
    normalised
}

/// Returns the path from a root to another path, with `..` where that lies outside. Compares names only.
pub fn relative(root: &Path, path: &Path) -> PathBuf {
    let whole = normalise(path);
    let parts = root.components().zip(whole.components());
    let common = parts.take_while(|(one, other)| one == other).count();
    let up = root.components().skip(common).map(|_| Component::ParentDir);
    up.chain(whole.components().skip(common)).collect()
}

/// Returns the root and the folders of trees: repositories first, then those near the top.
pub(crate) fn list(root: &Path, trees: &[PathBuf]) -> Vec<(FolderId, PathBuf)> {
    let root_id = FolderId::of(root).map(|id| (id, root.to_owned()));
    let mut all: Vec<_> = root_id.into_iter().collect();
    walk(root, trees, |id, path| all.push((id, path)));
    // Records are JSON, which has no other names.
    all.retain(|(_, path)| path.to_str().is_some());
    all.sort_by_cached_key(|(_, path)| path != root && !is_git(path) && !path.join(GIT).exists());
    all.truncate(MAX_LISTED);
    all
}

/// Visits the folders of trees, those near the top first. Of a folder of git, nothing inside.
fn walk(root: &Path, trees: &[PathBuf], mut visit: impl FnMut(FolderId, PathBuf)) {
    // A queue, so that the limit leaves out the deepest folders.
    let mut waiting: VecDeque<Place> = places(root, trees.iter().cloned()).collect();
    for _ in 0..MAX_SEEN {
        let Some(place) = waiting.pop_front() else {
            return;
        };
        let Some((folder, metadata)) = place.open() else {
            continue;
        };
        if !is_git(&place.path) {
            let inner = folder.read_dir().into_iter().flatten().flatten();
            let inner = inner.filter(|entry| {
                !is_left_out(&entry.file_name())
                    && entry.file_type().is_ok_and(|kind| kind.is_dir())
            });
            waiting.extend(inner.map(|entry| place.inner(&entry.file_name())));
        }
        visit(FolderId::from_metadata(&metadata), place.path);
    }
}

/// Returns the places of the trees that lie below the root.
fn places(root: &Path, trees: impl IntoIterator<Item = PathBuf>) -> impl Iterator<Item = Place> {
    let open = OpenFolder::open(root).ok().map(Rc::new);
    trees.into_iter().filter_map(move |path| {
        let real = path.canonicalize().ok()?;
        Some(Place {
            root: open.clone()?,
            below: real.strip_prefix(root).ok()?.to_owned(),
            path,
        })
    })
}

/// A folder that a walk comes to. A program that runs meanwhile can replace one on the way by a link, so each is opened from the root.
struct Place {
    root: Rc<OpenFolder>,
    /// The path from the open root, without links.
    below: PathBuf,
    path: PathBuf,
}

impl Place {
    fn inner(&self, name: &OsStr) -> Self {
        Self {
            root: Rc::clone(&self.root),
            below: self.below.join(name),
            path: self.path.join(name),
        }
    }

    fn open(&self) -> Option<(OpenFolder, fs::Metadata)> {
        let folder = self.root.open_below(&self.below).ok()?;
        let metadata = folder.metadata().ok()?;
        Some((folder, metadata))
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use super::*;

    #[test]
    fn a_link_that_takes_the_place_of_a_folder_meanwhile_leads_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("root");
        let outside = root.with_file_name("outside");
        fs::create_dir_all(root.join("d/inner")).unwrap();
        fs::create_dir_all(outside.join("inner")).unwrap();
        symlink(&outside, root.join("link")).unwrap();
        let [out, inner] = [outside.clone(), outside.join("inner")].map(|it| FolderId::of(&it));
        let (out, inner) = (out.unwrap(), inner.unwrap());
        let is_over = AtomicBool::new(false);
        let found = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let (link, d) = (root.join("link"), root.join("d"));
                    renameat_with(CWD, link, CWD, d, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let outside = (0..3_000).find(|_| {
                let listed = list(&root, std::slice::from_ref(&root));
                let changed = find_changed(&root, [root.clone()], 0, None);
                let ids = changed
                    .iter()
                    .filter_map(|path| FolderId::below(&root, path));
                let ids: Vec<_> = listed.into_iter().map(|(id, _)| id).chain(ids).collect();
                ids.contains(&out) || ids.contains(&inner)
            });
            is_over.store(true, Ordering::Relaxed);
            outside
        });
        assert_eq!(found, None);
    }
}
