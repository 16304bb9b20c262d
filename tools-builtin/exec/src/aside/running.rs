//! [`RunningRecord`]: what there was before a program, for a host that dies while it runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::placed::{self, FolderId, Folders, rebase};
use host::running::{self, Followed, Program, ProgramRecord, Reach};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tools::ProtectedFile;
use tools::policy::{SensitivePath, SensitivePaths};
use tools::protocol::Digest;
use tools_store::private;

use super::{Aside, Origin, Outcome};
use crate::disk::entries;
use crate::protected::{Bytes, Found, Judge, Look, Protected, Tree};

/// The folder of the records.
pub(super) const FOLDER: &str = "running";

/// The end of the name of the last record of a root.
pub(super) const ENDED: &str = "ended";

/// The most records of ended programs that wait for folders which are not at their paths. The oldest of more are removed.
const MAX_WAITING: usize = 64;

/// A file with what there was before a program, and its folders, which is locked while its host lives. A drop leaves it: the look after
/// the program was not made then, and the next session makes it.
#[derive(Debug)]
pub(crate) struct RunningRecord(Arc<Followed>);

/// A record that another session reads. The folders are those that are not at their paths.
pub(super) type Left = ProgramRecord<Before>;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) root: Bytes,
    trees: Vec<Tree>,
    is_kept: bool,
    skipped: Vec<Bytes>,
    origin: Origin,
    /// The entries of the table that are not built in.
    pub(super) paths: Vec<SensitivePath>,
    found: Vec<(Bytes, Found)>,
    /// The paths that are left to do after a look. Empty before it, when all paths count.
    #[serde(default)]
    only: Vec<Bytes>,
    /// True if the look was made, except for the folders that are not at their paths.
    pub(super) is_done: bool,
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
        look: &Look,
        before: &Protected,
        origin: &Origin,
    ) -> io::Result<Self> {
        let folder = aside.folder().join(FOLDER);
        private::create_folder(&folder)?;
        let built_in = SensitivePaths::default();
        let paths = look.judge.paths().paths();
        let own = paths.strip_prefix(built_in.paths()).unwrap_or(paths);
        let skipped = look.skipped.iter().map(|path| Bytes::from_path(path));
        let found = before.found.iter();
        let found = found.map(|(path, found)| (Bytes::from_path(path), found.clone()));
        let record = Before {
            root: Bytes::from_path(&look.root),
            trees: look.trees.clone(),
            is_kept: look.is_kept,
            skipped: skipped.collect(),
            origin: origin.clone(),
            paths: own.to_vec(),
            found: found.collect(),
            only: Vec::new(),
            is_done: false,
            from: placed::recently(),
            is_later: false,
        };
        let file = running::new_file(&folder, "");
        Ok(Self(Followed::start(&record, file, lock)?))
    }

    /// Returns the path of the root now. Returns `None` if it is gone, or not known.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.0.root()
    }

    /// Keeps a record of the folders that have changed while the program ran, for a look when all programs of roots below it have ended.
    /// Call it after the program and before the look at its end.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(crate) fn put_later(&self) -> io::Result<()> {
        let all = self.0.file.parent().map(records).unwrap_or_default();
        let mut own = all.iter().filter(|left| left.file == self.0.file);
        own.try_for_each(|left| put_later(left, &all))
    }

    /// Removes the record after the look, or keeps it for the paths that are unfinished and the folders that are not at their paths.
    pub(crate) fn finish(self, unfinished: &[PathBuf]) {
        self.0.look();
        for mut left in read([self.0.file.clone()]) {
            left.program.set_done(unfinished);
            finish(left);
        }
    }
}

impl Drop for RunningRecord {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

impl Before {
    /// Returns true if only parts are left to do.
    fn was_looked_at(&self) -> bool {
        self.is_done || !self.only.is_empty()
    }

    /// Notes that the look was made, except for these paths.
    fn set_done(&mut self, unfinished: &[PathBuf]) {
        let paths = unfinished.iter();
        self.only = paths.map(|path| Bytes::from_path(path)).collect();
        self.is_done = unfinished.is_empty();
    }
}

impl Program for Before {
    fn reach(&self) -> Reach<'_> {
        let root = self.root.as_path();
        Reach {
            root,
            trees: self.trees.iter().map(|it| absolute(root, it)).collect(),
            from: self.from,
            is_later: self.is_later,
        }
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

    /// Looks at the folders that were kept for later if the last program has ended that can write them. Blocks.
    pub(crate) fn recover_later(&self, root: &Path) -> Vec<ProtectedFile> {
        let later = self.records().into_iter();
        later
            .filter(|left| left.program.is_later && !left.program.was_looked_at())
            .flat_map(|left| self.recover_one(left, root, false, &Folders::new()))
            .collect()
    }

    /// Does so where the root of an ended program is now.
    pub(crate) fn recover_moved(&self, root: &Path, record: RunningRecord) -> Vec<ProtectedFile> {
        let place = record.root();
        // The record is that of an ended program from now on.
        drop(record);
        place.map_or_else(|| vec![Outcome::gone(root)], |place| self.recover(&place))
    }

    fn recover_with(&self, root: &Path, at_start: bool) -> Vec<ProtectedFile> {
        let mut records = self.records();
        // The names begin with the time, so the newest come first.
        records.sort_by(|one, other| other.file.cmp(&one.file));
        let mut waiting = 0;
        records.retain(|left| {
            waiting += usize::from(left.program.is_done);
            let is_kept = !left.program.is_done || waiting <= MAX_WAITING;
            is_kept || fs::remove_file(&left.file).is_err()
        });
        let searched = records.iter().filter(|_| at_start);
        let moved = searched.flat_map(|left| left.folders.keys());
        let found = placed::find(root, &moved.copied().collect());
        // Those of which this fails stay as they are.
        let is_put = |it: &Left| {
            it.is_alive || it.program.was_looked_at() || put_later(it, &records).is_ok()
        };
        let is_put: Vec<bool> = records.iter().map(is_put).collect();
        let due = records.into_iter().zip(is_put);
        let due = due.filter(|(_, is_put)| *is_put);
        due.flat_map(|(left, _)| self.recover_one(left, root, at_start, &found))
            .collect()
    }

    fn recover_one(
        &self,
        mut left: Left,
        root: &Path,
        at_start: bool,
        found: &Folders,
    ) -> Vec<ProtectedFile> {
        let of = left.program.root.as_path().to_owned();
        let is_moved =
            |left: &Left, folder: &Path| left.folders.values().any(|path| path == folder);
        let is_due = !left.program.is_done && (!left.is_alive || at_start && overlaps(root, &of));
        let own = (is_due && !is_moved(&left, &of)).then(|| (of.clone(), of.clone()));
        let moved = left.folders.iter();
        let moved = moved.filter_map(|(id, path)| {
            let place = found
                .get(id)
                .or_else(|| Some(path).filter(|path| id.is_at(path)));
            Some((path.clone(), place?.clone()))
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
            let Some(outcome) = self.look_again(&left.program, &from, &place, above) else {
                // The record stays, and the next session looks again.
                let unknown = Outcome::unknown().former.into_iter();
                told.extend(unknown.filter(|_| overlaps(root, &place)));
                continue;
            };
            if from == of && (is_there || outcome.unfinished.is_empty()) {
                left.program.set_done(&outcome.unfinished);
            }
            if outcome.unfinished.is_empty() {
                left.folders.retain(|id, path| {
                    !rebase(path, &from, &place).is_some_and(|path| id.is_at(&path))
                });
            }
            told.extend(outcome.into_files());
        }
        if !left.is_alive {
            finish(left);
        }
        told
    }

    fn records(&self) -> Vec<Left> {
        records(&self.folder().join(FOLDER))
    }

    /// Returns true if a program that runs may have written a protected file since its start. The look at the start of a session moves such a
    /// file aside, but the program can make it again.
    pub(crate) fn is_left_by_running(&self, path: &Path) -> bool {
        self.records().iter().any(|left| {
            let of = &left.program;
            let before = of.found.iter().find(|(found, _)| found.as_path() == path);
            left.is_alive
                && of.reach().trees.iter().any(|tree| path.starts_with(tree))
                && before.is_none_or(|(_, found)| found.may_differ(path))
        })
    }

    /// Takes over what there was before each program that still runs in this workspace, or whose folders wait for those of roots below.
    pub(crate) fn inherit(&self, root: &Path, before: &mut Protected) {
        for Left {
            program, is_alive, ..
        } in self.records()
        {
            let of = program.reach();
            if is_alive && (root.starts_with(of.root) || of.root.starts_with(root)) {
                let found = program.found.iter().cloned();
                let found = found.map(|(path, found)| (path.as_path().to_owned(), found));
                before.inherit(&found.collect(), &of.trees);
            }
        }
    }

    /// Looks at a folder, wherever it lies now, from a root around it. Returns `None` if there is too much to look at.
    fn look_again(
        &self,
        before: &Before,
        from: &Path,
        place: &Path,
        root: &Path,
    ) -> Option<Outcome> {
        let there = |path: &Bytes| rebase(path.as_path(), from, place);
        let trees = before.trees.iter().filter_map(|tree| {
            let above = absolute(before.root.as_path(), tree);
            let is_around = tree.is_tree && from.starts_with(&above);
            let now = rebase(&above, from, place);
            let now = now.or_else(|| is_around.then(|| place.to_owned()))?;
            let below = now.strip_prefix(root).ok()?.to_string_lossy();
            let below = Some(below.into_owned()).filter(|below| !below.is_empty());
            Some(Tree {
                path: below.unwrap_or_else(|| ".".to_owned()),
                is_tree: tree.is_tree,
            })
        });
        let only: Vec<PathBuf> = before.only.iter().filter_map(there).collect();
        let found = before.found.iter();
        let found = found.filter_map(|(path, found)| Some((there(path)?, found.clone())));
        let found: BTreeMap<PathBuf, Found> = found.collect();
        let skipped = before.skipped.iter();
        let skipped = skipped.map(|path| there(path).unwrap_or_else(|| path.as_path().to_owned()));
        let mut look = Look {
            judge: Judge::strict(SensitivePaths::default().with_paths(before.paths.clone())),
            root: root.to_owned(),
            trees: trees.collect(),
            is_kept: false,
            skipped: skipped.collect(),
            may_redirect: false,
        };
        if before.is_kept {
            // The walls kept programs from the content of these folders.
            let kept = found.iter().filter(|(path, found)| {
                found.is_kept_folder() && look.judge.matters(&look.relative(path))
            });
            let kept: Vec<_> = kept.map(|(path, _)| path.clone()).collect();
            look.skipped.extend(kept);
        }
        let former = Protected::from_found(found);
        let now = look.find().ok()?;
        Some(self.set_aside(&look, &former, &now, &only, &before.origin))
    }
}

fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

pub(super) fn records(folder: &Path) -> Vec<Left> {
    let files = entries(folder);
    let files = files.filter(|file| file.extension().is_some_and(|is| is == "json"));
    let mut all: Vec<_> = read(files).collect();
    Left::revive(&mut all);
    all
}

/// Reads the records that are complete.
pub(super) fn read(files: impl IntoIterator<Item = PathBuf>) -> impl Iterator<Item = Left> {
    files.into_iter().filter_map(move |file| {
        let mut left = Left::read(file, |file| Ok(lock(file).is_err())).ok()?;
        // Those of a look that was made wait for one, also where they were moved back.
        if !left.program.is_done {
            left.folders = placed::find_moved(&left.folders);
        }
        Some(left)
    })
}

/// Removes the record, or keeps it for what is left to do. One that cannot be changed is looked at once more as it is.
fn finish(mut left: Left) {
    let folders = &left.folders;
    let new = left.file.with_extension("new");
    if left.program.is_done {
        left.program.found.retain(|(path, _)| {
            let path = path.as_path();
            folders.values().any(|folder| path.starts_with(folder))
        });
    }
    let is_kept = !left.program.is_done || !folders.is_empty();
    let text = running::lines(&left.program, folders);
    let written = text.and_then(|text| private::replace(&left.file, &new, &text));
    if !is_kept || written.is_err() {
        if is_kept {
            let _ = fs::remove_file(&new);
        } else {
            keep(&left);
        }
    }
}

/// Keeps the record of an ended program as the last one of its root.
fn keep(left: &Left) {
    let root = left.program.root.as_path().as_os_str();
    let root = Digest::hash_bytes(root.as_encoded_bytes());
    let kept = left.file.with_file_name(format!("{root}.{ENDED}"));
    if fs::rename(&left.file, kept).is_err() {
        let _ = fs::remove_file(&left.file);
    }
}

/// Keeps a record of the folders that have changed while a program ran, for a look when all programs of roots below it have ended.
fn put_later(left: &Left, all: &[Left]) -> io::Result<()> {
    let Some((folders, _)) = Left::find_later(all, &left.program) else {
        return Ok(());
    };
    let trees = folders.iter().map(|folder| Tree {
        path: folder.to_string_lossy().into_owned(),
        is_tree: true,
    });
    let mut later = Before {
        trees: trees.collect(),
        is_later: true,
        ..left.program.clone()
    };
    later.found.retain(|(path, _)| {
        let path = path.as_path();
        folders.iter().any(|folder| path.starts_with(folder))
    });
    let root = left.program.root.as_path();
    let places = folders.iter().map(PathBuf::as_path).chain([root]);
    let numbers = places.filter_map(|path| Some((FolderId::below(root, path)?, path.to_owned())));
    let text = running::lines(&later, &numbers.collect())?;
    let file = left.file.with_extension("later.json");
    private::replace(&file, &file.with_extension("draft"), &text)
}

/// Returns true if one of the folders lies in the other one.
pub(super) fn overlaps(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Returns the path of a tree.
fn absolute(root: &Path, tree: &Tree) -> PathBuf {
    root.join(&tree.path).components().collect()
}
