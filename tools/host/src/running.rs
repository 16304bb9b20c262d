//! Programs of sessions that may write files, with a record on disk that other sessions read.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{process, thread};

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tools::IgnorePoison as _;
use tools_store::private;

use crate::open_folder::OpenFolder;
use crate::placed::{FolderId, Folders, MAX_SEEN, find_changed, find_moved, list, recently};

/// The time between two looks, which is longer where they take long.
const PAUSE: Duration = Duration::from_secs(1);

/// The folders that a program may write, and since when.
#[derive(Debug)]
pub struct Reach<'a> {
    /// The root of its session.
    pub root: &'a Path,
    /// The folders and files, at or below the root.
    pub trees: Vec<PathBuf>,
    /// The time of its start in nanoseconds since 1970.
    pub from: u64,
    /// True if it has ended, and programs of roots below may write the trees, because it may have moved folders out of these roots.
    pub is_later: bool,
}

/// A program of which sessions keep records.
pub trait Program: DeserializeOwned {
    /// Returns the folders that it may write.
    fn reach(&self) -> Reach<'_>;
}

/// Follows the folders that a program may write: each look adds a line with those that are new to the record of the program.
#[derive(Debug)]
pub struct Followed {
    /// The file of the record.
    pub file: PathBuf,
    record: File,
    root: PathBuf,
    id: Option<FolderId>,
    /// The root, wherever it is.
    open: Option<OpenFolder>,
    trees: Vec<PathBuf>,
    known: Mutex<Folders>,
}

impl Followed {
    /// Records a program that is about to start, and follows its folders until a drop. The record is complete and locked when it has its
    /// name, because other sessions may read it at any time.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
    pub fn start(
        program: &(impl Program + Serialize),
        file: PathBuf,
        lock: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<Arc<Self>> {
        // Other sessions read records at any time, so a record appears complete and locked.
        let draft = file.with_extension("draft");
        let mut record = private::create_file(&draft)?;
        record.write_all(&serde_json::to_vec(program)?)?;
        lock(&record)?;
        let Reach { root, trees, .. } = program.reach();
        let followed = Arc::new(Self {
            file,
            record,
            root: root.to_owned(),
            id: FolderId::of(root),
            open: OpenFolder::open(root).ok(),
            trees,
            known: Mutex::default(),
        });
        followed.look();
        fs::rename(&draft, &followed.file)?;
        // The thread must not keep a record alive whose program has ended.
        let weak = Arc::downgrade(&followed);
        thread::spawn(move || {
            let mut pause = PAUSE;
            loop {
                thread::sleep(pause);
                let (began, Some(followed)) = (Instant::now(), weak.upgrade()) else {
                    return;
                };
                followed.look();
                // Looks at a large tree take at most a hundredth of the time.
                pause = PAUSE.max(began.elapsed() * 100);
            }
        });
        Ok(followed)
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
        // One write, so that a reader sees a whole line or the beginning of the last one.
        let _ = (&self.record).write_all(&[b"\n", &*line].concat());
        known.extend(new);
    }

    /// Ends the lock of the record, for other sessions to find. A drop alone does not, while the thread looks or a process that just started
    /// has the file, too.
    pub fn unlock(&self) {
        // Without it, the lock ends later.
        let _ = flock(&self.record, FlockOperation::Unlock);
    }

    /// Returns the path of the root now. Returns `None` if it is gone, or not known.
    pub fn root(&self) -> Option<PathBuf> {
        let moved = self.open.as_ref().and_then(|open| open.locate().ok());
        let mut paths = [Some(self.root.clone()), moved].into_iter().flatten();
        paths.find(|path| self.id.is_none_or(|id| id.is_at(path)))
    }

    /// Returns the folders that are not at their paths, with those that were removed.
    pub fn find_moved(&self) -> Folders {
        self.look();
        find_moved(&self.known.lock().ignore_poison())
    }
}

/// A record that a session reads.
#[derive(Debug)]
pub struct ProgramRecord<P> {
    /// The file.
    pub file: PathBuf,
    /// The program.
    pub program: P,
    /// The folders that it may write, with their paths.
    pub folders: Folders,
    /// True if its session lives, which holds a lock on the file, or if a program runs in a root below that of one that has ended.
    pub is_alive: bool,
    _opened: File,
}

impl<P: Program> ProgramRecord<P> {
    /// Reads a record. `is_locked` tries to lock it.
    ///
    /// # Errors
    /// Returns an error of the kind `NotFound` if its session has removed it meanwhile, or another one if it cannot be read.
    pub fn read(file: PathBuf, is_locked: impl Fn(&File) -> io::Result<bool>) -> io::Result<Self> {
        let mut opened = File::open(&file)?;
        // Asked before the text is read, so that the last lines of a session that ends meanwhile are not missed.
        let is_alive = is_locked(&opened)?;
        let mut text = Vec::new();
        opened.read_to_end(&mut text)?;
        let mut lines = text.split(|byte| *byte == b'\n');
        let program = serde_json::from_slice(lines.next().unwrap_or_default())?;
        if !is_alive {
            // Its session removes it before it releases the lock.
            file.symlink_metadata()?;
        }
        // The last line may be incomplete.
        let folders =
            lines.flat_map(|line| serde_json::from_slice::<Vec<_>>(line).unwrap_or_default());
        Ok(Self {
            file,
            program,
            folders: folders.collect(),
            is_alive,
            // Open as long as the record, because closing it ends the lock.
            _opened: opened,
        })
    }

    /// Gives the programs that have ended their lives back while programs run in roots below theirs.
    pub fn revive(all: &mut [Self]) {
        for number in 0..all.len() {
            let Reach { root, is_later, .. } = all[number].program.reach();
            let is_awaited = is_later && all.iter().any(|other| other.is_inner(root));
            all[number].is_alive |= is_awaited;
        }
    }

    /// Returns the folders that have changed while a program ran, and a program of a root below, which may still write them. Returns `None`
    /// without one, or if a record of these folders waits already. Call it after the program and before the look at its end, which looks at
    /// its own root alone, and keep a record of the folders.
    pub fn find_later<'a>(all: &'a [Self], program: &P) -> Option<(Vec<PathBuf>, &'a P)> {
        let own = program.reach();
        let mut inner = all.iter().filter(|it| it.is_inner(own.root));
        let first = inner.next().filter(|_| !own.is_later)?;
        let root = first.program.reach().root;
        let mut folders = first.folders.iter();
        let is_gone = folders.any(|(id, path)| path == root && !id.is_at(path));
        // With two roots, a folder may have been moved from one into the other. One that was moved itself is another folder.
        let is_only = !is_gone && inner.all(|it| it.program.reach().root == root);
        let folders = find_changed(own.root, own.trees, own.from, is_only.then_some(root));
        let is_new = !folders.is_empty()
            && !all.iter().any(|it| {
                let of = it.program.reach();
                let mut folders = folders.iter();
                of.is_later
                    && of.root == own.root
                    && folders.all(|folder| of.trees.iter().any(|tree| folder.starts_with(tree)))
            });
        is_new.then_some((folders, &first.program))
    }

    /// Returns true if the program runs in a root below this one.
    fn is_inner(&self, root: &Path) -> bool {
        let of = self.program.reach();
        self.is_alive && !of.is_later && of.root != root && of.root.starts_with(root)
    }
}

/// Returns a file in a folder of records that none has.
pub fn new_file(folder: &Path, begin: &str) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!(
        "{begin}{}-{}-{count}.json",
        // The system uses numbers of processes again, so the time is a part of the name.
        recently(),
        process::id()
    ))
}

/// Returns the text of a record with these folders.
///
/// # Errors
/// Returns an error if the record cannot be written as JSON.
pub fn lines(record: &impl Serialize, folders: &Folders) -> io::Result<Vec<u8>> {
    let folders = serde_json::to_vec(&Vec::from_iter(folders))?;
    Ok([serde_json::to_vec(record)?, folders].join(&b'\n'))
}

#[cfg(test)]
mod tests;
