//! [`RunningRecord`]: what there was before a program, for a host that dies while it runs.

mod later;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host::placed::{self, Folders, Followed, rebased};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tools::ProtectedFile;
use tools::policy::{SensitivePath, SensitivePaths};

use super::carry::{create_file, create_folder, path_of};
use super::{Aside, Origin, Outcome, entries, now};
use crate::protected::{Bytes, Found, Judge, Look, Protected, Tree};

/// The folder of the records.
const FOLDER: &str = "running";

/// The most records of ended programs that wait for folders which are not at their paths. The oldest of more are removed.
const MAX_WAITING: usize = 64;

/// A file with what there was before a program, and its folders, which is locked while its host lives. A drop leaves it: the look after
/// the program was not made then, and the next session makes it.
#[derive(Debug)]
pub(crate) struct RunningRecord {
    path: PathBuf,
    pub(crate) followed: Arc<Followed>,
}

/// A record that another session reads.
struct Left {
    path: PathBuf,
    /// The lock, if the program has ended.
    _file: File,
    is_over: bool,
    before: Before,
    /// The folders that are not at their paths.
    moved: Folders,
}

#[derive(Clone, Serialize, Deserialize)]
struct Before {
    root: Bytes,
    trees: Vec<Tree>,
    is_kept: bool,
    skipped: Vec<Bytes>,
    origin: Origin,
    /// The entries of the table that are not built in.
    paths: Vec<SensitivePath>,
    found: Vec<(Bytes, Found)>,
    /// The paths that are left to do after a look. Empty before it, when all paths count.
    #[serde(default)]
    only: Vec<Bytes>,
    /// True if the look was made, except for the folders that are not at their paths.
    is_done: bool,
    /// A time before the program, in nanoseconds since 1970.
    #[serde(default)]
    from: u64,
    /// True if the program has ended, and those of roots below may still write the trees.
    #[serde(default)]
    is_later: bool,
}

impl RunningRecord {
    /// Writes the record.
    pub(crate) fn create(
        aside: &Aside,
        look: &Look<'_>,
        before: &Protected,
        origin: &Origin,
    ) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = aside.folder().join(FOLDER);
        create_folder(&folder)?;
        let built_in = SensitivePaths::default();
        let paths = look.judge.paths().paths();
        let own = paths.strip_prefix(built_in.paths()).unwrap_or(paths);
        let bytes = |path: &PathBuf| Bytes::from_path(path);
        let found = before.found.iter();
        let found = found.map(|(path, found)| (bytes(path), found.clone()));
        let record = Before {
            root: Bytes::from_path(look.root),
            trees: look.trees.to_vec(),
            is_kept: look.is_kept,
            skipped: look.skipped.iter().map(bytes).collect(),
            origin: origin.clone(),
            paths: own.to_vec(),
            found: found.collect(),
            only: Vec::new(),
            is_done: false,
            from: placed::recently(),
            is_later: false,
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{}-{count}", now(), process::id());
        // Complete under its name, and locked: another session may read it at any time.
        let unfinished = folder.join(format!("{name}.new"));
        let _ = fs::remove_file(&unfinished);
        let locked = create_file(&unfinished, &serde_json::to_vec(&record)?)?;
        flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
        let path = folder.join(format!("{name}.json"));
        let trees = look.trees.iter().map(|tree| absolute(look.root, tree));
        let followed = Followed::start(locked, look.root, trees);
        fs::rename(&unfinished, &path)?;
        Ok(Self { path, followed })
    }

    /// Keeps a record for later of what the program may have moved away from those of roots below. Call it before the look.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(crate) fn put_later(&self, aside: &Aside) -> io::Result<()> {
        let records: Vec<_> = aside.records().collect();
        let mut own = records.iter().filter(|left| left.path == self.path);
        let running = Left::running(&records);
        own.try_for_each(|left| left.put_later(&records, &running))
    }

    /// Removes the record after the look, or keeps it for the paths that are unfinished and the folders that are not at their paths.
    pub(crate) fn finish(self, unfinished: &[PathBuf]) {
        self.followed.look();
        if let Some(mut left) = Left::read(self.path.clone()) {
            left.before.set_done(unfinished);
            left.finish();
        }
    }
}

impl Left {
    /// Reads a record. Returns `None` if it is none, or is not complete.
    fn read(path: PathBuf) -> Option<Self> {
        let is_record = path.extension().is_some_and(|is| is == "json");
        let mut file = File::open(&path).ok().filter(|_| is_record)?;
        let is_over = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        let (before, folders) = placed::read::<Before>(&mut file).ok()?;
        // Those of a look that was made wait for one, also where they were moved back.
        let is_done = before.is_done;
        let moved = if is_done {
            folders
        } else {
            placed::moved(&folders)
        };
        Some(Self {
            path,
            _file: file,
            is_over,
            before,
            moved,
        })
    }

    /// Removes the record, or keeps it for what is left to do. One that cannot be changed is looked at once more as it is.
    fn finish(mut self) {
        let (moved, new) = (&self.moved, self.path.with_extension("new"));
        if self.before.is_done {
            let is_in = |path: &Path| moved.values().any(|folder| path.starts_with(folder));
            self.before.found.retain(|(path, _)| is_in(path.as_path()));
        }
        let is_kept = !self.before.is_done || !moved.is_empty();
        let written = placed::lines(&self.before, moved).and_then(|text| create_file(&new, &text));
        if !is_kept || written.and_then(|_| fs::rename(&new, &self.path)).is_err() {
            let _ = fs::remove_file(if is_kept { &new } else { &self.path });
        }
    }
}

impl Before {
    /// Notes that the look was made, except for these paths.
    fn set_done(&mut self, unfinished: &[PathBuf]) {
        let paths = unfinished.iter();
        self.only = paths.map(|path| Bytes::from_path(path)).collect();
        self.is_done = unfinished.is_empty();
    }
}

impl Aside {
    /// Moves what programs planted whose host has died, or whose end nobody waited for, and what those of other sessions in this workspace
    /// planted so far. Call it before a session reads any file of the workspace. Blocks.
    pub fn recover(&self, root: &Path) -> Vec<ProtectedFile> {
        self.recover_with(root, true)
    }

    /// Does so without the programs that still run, and without a search for moved folders. Blocks.
    pub(crate) fn recover_ended(&self, root: &Path) -> Vec<ProtectedFile> {
        self.recover_with(root, false)
    }

    /// Does so where the root of an ended program is now.
    pub(crate) fn recover_moved(&self, root: &Path, record: RunningRecord) -> Vec<ProtectedFile> {
        let place = record.followed.root();
        // The record is that of an ended program from now on.
        drop(record);
        place.map_or_else(|| vec![Outcome::gone(root)], |place| self.recover(&place))
    }

    fn recover_with(&self, root: &Path, at_start: bool) -> Vec<ProtectedFile> {
        let mut records: Vec<_> = self.records().collect();
        records.sort_by(|one, other| other.path.cmp(&one.path));
        let is_waiting = |left: &&Left| left.is_over && left.before.is_done;
        for left in records.iter().filter(is_waiting).skip(MAX_WAITING) {
            let _ = fs::remove_file(&left.path);
        }
        let searched = records.iter().filter(|_| at_start);
        let moved = searched.flat_map(|left| left.moved.keys());
        let found = placed::find(root, &moved.copied().collect());
        let running = Left::running(&records);
        // Those of which this fails stay as they are.
        let is_put = |left: &Left| {
            !left.is_over || left.before.is_done || left.put_later(&records, &running).is_ok()
        };
        let is_put: Vec<bool> = records.iter().map(is_put).collect();
        let due = records
            .into_iter()
            .zip(is_put)
            .filter(|(_, is_put)| *is_put);
        let recover = |(left, _): (Left, _)| {
            let is_over = left.is_over && !left.is_awaited(&running);
            self.recover_one(Left { is_over, ..left }, root, at_start, &found)
        };
        due.flat_map(recover).collect()
    }

    fn recover_one(
        &self,
        mut left: Left,
        root: &Path,
        at_start: bool,
        found: &Folders,
    ) -> Vec<ProtectedFile> {
        let of = left.before.root.as_path().to_owned();
        let is_here = |place: &Path| root.starts_with(place) || place.starts_with(root);
        let is_moved = |left: &Left, folder: &Path| left.moved.values().any(|path| path == folder);
        let is_due = !left.before.is_done && (left.is_over || at_start && is_here(&of));
        let own = (is_due && !is_moved(&left, &of)).then(|| (of.clone(), of.clone()));
        let moved = left.moved.iter();
        let moved = moved.filter_map(|(id, path)| {
            let is_back = || Some(path).filter(|path| id.is_at(path));
            Some((path.clone(), found.get(id).or_else(is_back)?.clone()))
        });
        let mut places: Vec<_> = own.into_iter().chain(moved).collect();
        // A folder covers those that were moved with it.
        places.sort();
        let mut told = Vec::new();
        for (from, place) in places {
            let is_there = from == place;
            if !is_there && !is_moved(&left, &from) {
                continue;
            }
            let is_below = !is_there && place.starts_with(root);
            let above = if is_below { root } else { &place };
            let Some(outcome) = self.look_again(&left.before, &from, &place, above) else {
                // The record stays, and the next session looks again.
                let unknown = Outcome::unknown().former.into_iter();
                told.extend(unknown.filter(|_| is_here(&place)));
                continue;
            };
            if from == of && (is_there || outcome.unfinished.is_empty()) {
                left.before.set_done(&outcome.unfinished);
            }
            if outcome.unfinished.is_empty() {
                let is_with = |path: &Path| rebased(path, &from, &place);
                left.moved
                    .retain(|id, path| !is_with(path).is_some_and(|path| id.is_at(&path)));
            }
            told.extend(outcome.into_files());
        }
        if left.is_over {
            left.finish();
        }
        told
    }

    fn records(&self) -> impl Iterator<Item = Left> + use<> {
        entries(&self.folder().join(FOLDER)).filter_map(Left::read)
    }

    /// Returns what there was before each program that still runs in this workspace, and the folders that it may write.
    pub(crate) fn running(&self, root: &Path) -> Vec<(BTreeMap<PathBuf, Found>, Vec<PathBuf>)> {
        // The record of a program that has ended is not locked.
        let records = self.records().filter(|left| !left.is_over);
        let records = records.filter_map(|Left { before, .. }| {
            let of = before.root.as_path();
            let is_here = root.starts_with(of) || of.starts_with(root);
            let folders = before.trees.iter().map(|tree| absolute(of, tree)).collect();
            let found = before.found.into_iter();
            let found = found.map(|(path, found)| (path_of(&path), found));
            is_here.then(|| (found.collect(), folders))
        });
        records.collect()
    }

    /// Looks at a folder, wherever it lies now, from a root around it. Returns `None` if there is too much to look at.
    fn look_again(
        &self,
        before: &Before,
        from: &Path,
        place: &Path,
        root: &Path,
    ) -> Option<Outcome> {
        let there = |path: &Bytes| rebased(path.as_path(), from, place);
        let trees = before.trees.iter().filter_map(|tree| {
            let above = absolute(before.root.as_path(), tree);
            let is_around = tree.is_tree && from.starts_with(&above);
            let now = rebased(&above, from, place);
            let now = now.or_else(|| is_around.then(|| place.to_owned()))?;
            let below = now.strip_prefix(root).ok()?.to_string_lossy();
            let below = Some(below.into_owned()).filter(|below| !below.is_empty());
            Some(Tree {
                path: below.unwrap_or_else(|| ".".to_owned()),
                is_tree: tree.is_tree,
            })
        });
        let trees: Vec<_> = trees.collect();
        let only: Vec<PathBuf> = before.only.iter().filter_map(there).collect();
        let judge = Judge::strict(SensitivePaths::default().with_paths(before.paths.clone()));
        let found = before.found.iter();
        let found = found.filter_map(|(path, found)| Some((there(path)?, found.clone())));
        let found: BTreeMap<PathBuf, Found> = found.collect();
        let kept_out = |path: &Bytes| there(path).unwrap_or_else(|| path_of(path));
        let mut skipped: Vec<_> = before.skipped.iter().map(kept_out).collect();
        let mut look = Look {
            judge: &judge,
            root,
            trees: &trees,
            is_kept: false,
            skipped: &[],
            may_redirect: false,
            keeps_content: false,
        };
        if before.is_kept {
            // The walls kept programs from the content of these folders.
            let kept = found.iter().filter(|(path, found)| {
                found.is_kept_folder() && judge.matters(&look.relative(path))
            });
            skipped.extend(kept.map(|(path, _)| path.clone()));
        }
        look.skipped = &skipped;
        let former = Protected::from_found(found);
        let now = look.find().ok()?;
        Some(self.set_aside(&look, &former, &now, &only, &before.origin))
    }
}

/// Returns the path of a tree.
fn absolute(root: &Path, tree: &Tree) -> PathBuf {
    root.join(&tree.path).components().collect()
}
