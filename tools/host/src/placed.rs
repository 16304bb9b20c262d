//! [`Followed`]: the folders of a running program, which are known by their numbers after a move.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tools::IgnorePoison as _;

/// The most folders of one look.
const MAX_LISTED: usize = 1000;

/// The most folders of a walk, and of a program with those that are gone.
const MAX_SEEN: usize = 20_000;

/// The most folders that are looked at for changed ones.
const MAX_CHANGED: usize = 200_000;

/// The time between two looks, which is longer where they take long.
const PAUSE: Duration = Duration::from_secs(1);

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
    /// Returns that of the folder at a path. Returns `None` if there is none, or on systems without such numbers.
    pub fn of(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok();
        Self::from_metadata(&metadata.filter(fs::Metadata::is_dir)?)
    }

    /// Returns that of an entry, which may be a file. Returns `None` on systems without such numbers.
    #[cfg(unix)]
    pub fn from_metadata(metadata: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;

        // Only file systems on a disk use a number again. A folder of an overlay is born again with its first change.
        let is_on_disk = (metadata.dev() >> 8) & 0xfff != 0;
        let born = metadata.created().ok().filter(|_| is_on_disk);
        let born = born.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |time| time.as_nanos() as u64);
        Some(Self(metadata.dev(), metadata.ino(), born))
    }

    /// Returns `None`.
    #[cfg(not(unix))]
    pub fn from_metadata(_metadata: &fs::Metadata) -> Option<Self> {
        None
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

/// Follows the folders that a program may write: each look adds a line with those that are new to the record of the program.
#[derive(Debug)]
pub struct Followed {
    record: File,
    root: PathBuf,
    id: Option<FolderId>,
    /// The root, wherever it is.
    open: Option<File>,
    trees: Vec<PathBuf>,
    known: Mutex<Folders>,
}

impl Followed {
    /// Adds the folders to the record, of which the first line is written, and follows them until a drop. The trees lie at or below the root.
    pub fn start(record: File, root: &Path, trees: impl IntoIterator<Item = PathBuf>) -> Arc<Self> {
        let followed = Arc::new(Self {
            record,
            root: root.to_owned(),
            id: FolderId::of(root),
            open: File::open(root).ok(),
            trees: trees.into_iter().collect(),
            known: Mutex::default(),
        });
        followed.look();
        let weak = Arc::downgrade(&followed);
        thread::spawn(move || {
            let mut pause = PAUSE;
            loop {
                thread::sleep(pause);
                let (began, Some(followed)) = (Instant::now(), weak.upgrade()) else {
                    return;
                };
                followed.look();
                pause = PAUSE.max(began.elapsed() * 100);
            }
        });
        followed
    }

    /// Looks for new folders, and for those that were moved within the trees. Without room in the record, other sessions know the others.
    pub fn look(&self) {
        let mut known = self.known.lock().ignore_poison();
        let mut new = list(&self.root, &self.trees);
        new.retain(|(id, path)| known.get(id) != Some(path));
        if new.is_empty() || known.len() > MAX_SEEN {
            return;
        }
        let line = serde_json::to_vec(&new).unwrap_or_default();
        let _ = (&self.record).write_all(&[b"\n", &*line].concat());
        known.extend(new);
    }

    /// Returns the path of the root now. Returns `None` if it is gone, or not known.
    pub fn root(&self) -> Option<PathBuf> {
        let moved = self.open.as_ref().and_then(path_of);
        let mut paths = [Some(self.root.clone()), moved].into_iter().flatten();
        paths.find(|path| self.id.is_none_or(|id| id.is_at(path)))
    }

    /// Returns the folders that are not at their paths, with those that were removed.
    pub fn moved(&self) -> Folders {
        self.look();
        moved(&self.known.lock().ignore_poison())
    }
}

#[cfg(unix)]
fn path_of(folder: &File) -> Option<PathBuf> {
    let number = std::os::fd::AsRawFd::as_raw_fd(folder);
    fs::read_link(format!("/proc/self/fd/{number}")).ok()
}

#[cfg(not(unix))]
fn path_of(_folder: &File) -> Option<PathBuf> {
    None
}

/// Returns the text of a record with these folders.
///
/// # Errors
/// Returns an error if the record cannot be written as JSON.
pub fn lines(record: &impl Serialize, folders: &Folders) -> io::Result<Vec<u8>> {
    let folders = serde_json::to_vec(&Vec::from_iter(folders))?;
    Ok([serde_json::to_vec(record)?, folders].join(&b'\n'))
}

/// Reads the record of a program, and its folders.
///
/// # Errors
/// Returns an error if it cannot be read, or the first line has another form.
pub fn read<T: DeserializeOwned>(mut file: impl io::Read) -> io::Result<(T, Folders)> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let record = serde_json::from_slice(lines.next().unwrap_or_default())?;
    // The last line may be incomplete.
    let folders = lines.flat_map(|line| serde_json::from_slice::<Vec<_>>(line).unwrap_or_default());
    Ok((record, folders.collect()))
}

/// Returns the folders that are not at their paths.
pub fn moved(folders: &Folders) -> Folders {
    let is_moved = |(id, path): &(&FolderId, &PathBuf)| !id.is_at(path);
    let moved = folders.iter().filter(is_moved);
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
pub fn changed(
    root: &Path,
    trees: impl IntoIterator<Item = PathBuf>,
    since: u64,
    inner: Option<&Path>,
) -> Vec<PathBuf> {
    let (mut found, mut count) = (Vec::new(), 0);
    let mut waiting: Vec<PathBuf> = trees.into_iter().collect();
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).ok();
        let Some(metadata) = metadata.filter(fs::Metadata::is_dir) else {
            continue;
        };
        count += 1;
        if count > MAX_CHANGED {
            return vec![root.to_owned()];
        }
        if is_git(&path) || inner == Some(&*path) {
            continue;
        }
        let is_around = path == root || inner.is_some_and(|inner| inner.starts_with(&path));
        let is_changed = !is_around && change_time(&metadata) >= since;
        match fs::read_dir(&path) {
            Ok(entries) if !is_changed => waiting.extend(entries.flatten().map(|it| it.path())),
            _ => found.extend(
                path.ancestors()
                    .find(|it| it.to_str().is_some())
                    .map(Path::to_owned),
            ),
        }
    }
    found
}

/// Returns a time in nanoseconds since 1970 that is not after that of a later change of a file, although their clock may be behind.
pub fn recently() -> u64 {
    let now = SystemTime::now().checked_sub(CLOCK_LAG);
    let since = now.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |time| time.as_nanos() as u64)
}

/// Returns the time of the last change in nanoseconds since 1970. No program can choose it.
#[cfg(unix)]
pub fn change_time(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;

    let nanos = i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec());
    u64::try_from(nanos).unwrap_or_default()
}

/// Returns the time of the last write in nanoseconds since 1970.
#[cfg(not(unix))]
pub fn change_time(metadata: &fs::Metadata) -> u64 {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(u64::MAX, |time| time.as_nanos() as u64)
}

/// Returns the place of a path after a move of a folder around it. Returns `None` for other paths.
pub fn rebased(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(from).ok()?;
    Some(to.join(below).components().collect())
}

/// Returns the root and the folders of trees: repositories first, then those near the top.
fn list(root: &Path, trees: &[PathBuf]) -> Vec<(FolderId, PathBuf)> {
    let root_id = FolderId::of(root).map(|id| (id, root.to_owned()));
    let mut all: Vec<_> = root_id.into_iter().collect();
    walk(trees, |id, path| all.push((id, path)));
    all.retain(|(_, path)| path.to_str().is_some());
    let is_repository = |path: &Path| is_git(path) || path.join(GIT).exists();
    all.sort_by_cached_key(|(_, path)| path != root && !is_repository(path));
    all.truncate(MAX_LISTED);
    all
}

/// Visits the folders of trees, those near the top first. Of a folder of git, nothing inside.
fn walk(trees: &[PathBuf], mut visit: impl FnMut(FolderId, PathBuf)) {
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
                let is_left_out = LEFT_OUT.iter().any(|name| entry.file_name() == **name);
                !is_left_out && entry.file_type().is_ok_and(|kind| kind.is_dir())
            });
            waiting.extend(inner.map(|entry| entry.path()));
        }
        visit(id, path);
    }
}

fn is_git(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case(GIT))
}
