//! [`RunningRecord`]: what there was before a program, for a host that dies while it runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
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
    followed: Followed,
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
    #[serde(default)]
    is_done: bool,
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
        let record = Before {
            root: Bytes::from_path(look.root),
            trees: look.trees.to_vec(),
            is_kept: look.is_kept,
            skipped: look
                .skipped
                .iter()
                .map(|path| Bytes::from_path(path))
                .collect(),
            origin: origin.clone(),
            paths: own.to_vec(),
            found: before
                .found
                .iter()
                .map(|(path, found)| (Bytes::from_path(path), found.clone()))
                .collect(),
            only: Vec::new(),
            is_done: false,
        };
        let name = format!(
            "{}-{}-{}",
            now(),
            process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        // Complete under its name, and locked: another session may read it at any time.
        let unfinished = folder.join(format!("{name}.new"));
        let _ = fs::remove_file(&unfinished);
        let locked = create_file(&unfinished, &serde_json::to_vec(&record)?)?;
        flock(&locked, FlockOperation::NonBlockingLockExclusive)?;
        let path = folder.join(format!("{name}.json"));
        let trees = look.trees.iter().map(|tree| absolute(look.root, tree));
        let followed = Followed::start(locked, look.root, trees.collect())?;
        fs::rename(&unfinished, &path)?;
        Ok(Self { path, followed })
    }

    /// Returns the path of the root now. Returns `None` if it is gone.
    pub(crate) fn root(&self) -> Option<PathBuf> {
        self.followed.root()
    }

    /// Removes the record after the look, or keeps it for the paths that are unfinished and the folders that are not at their paths.
    pub(crate) fn finish(self, unfinished: &[PathBuf]) {
        let read = fs::read(&self.path).map(|text| placed::read::<Before>(&text));
        if let Ok(Ok((before, _))) = read {
            finish(&self.path, before, unfinished, &self.followed.moved(), true);
        }
    }
}

/// Removes a record, or keeps it for the paths that are unfinished and the moved folders. One that cannot be changed is looked at once more
/// as it is.
fn finish(path: &Path, mut before: Before, unfinished: &[PathBuf], moved: &Folders, is_done: bool) {
    if is_done && unfinished.is_empty() && moved.is_empty() {
        let _ = fs::remove_file(path);
        return;
    }
    before.only = unfinished
        .iter()
        .map(|path| Bytes::from_path(path))
        .collect();
    before.is_done = is_done && unfinished.is_empty();
    if before.is_done {
        let is_in = |path: &Path| moved.values().any(|folder| path.starts_with(folder));
        before.found.retain(|(path, _)| is_in(path.as_path()));
    }
    let lines = serde_json::to_vec(&before).and_then(|text| {
        let folders: Vec<_> = moved.iter().collect();
        Ok([text, serde_json::to_vec(&folders)?].join(&b'\n'))
    });
    let narrowed = lines.ok();
    let new = path.with_extension("new");
    let written = narrowed.is_some_and(|text| {
        create_file(&new, &text)
            .and_then(|_| fs::rename(&new, path))
            .is_ok()
    });
    if !written {
        let _ = fs::remove_file(new);
    }
}

impl Aside {
    /// Moves what programs planted whose host has died, or whose end nobody waited for, and what those of other sessions in this workspace
    /// planted so far. Call it before a session reads any file of the workspace. Blocks.
    pub fn recover(&self, root: &Path) -> Vec<ProtectedFile> {
        self.recover_with(root, true)
    }

    /// Does so without the programs that still run. Blocks.
    pub(crate) fn recover_ended(&self, root: &Path) -> Vec<ProtectedFile> {
        self.recover_with(root, false)
    }

    fn recover_with(&self, root: &Path, at_start: bool) -> Vec<ProtectedFile> {
        let mut records: Vec<Left> = entries(&self.folder().join(FOLDER))
            .filter_map(Left::read)
            .collect();
        records.sort_by(|one, other| other.path.cmp(&one.path));
        let waiting = records
            .iter()
            .filter(|left| left.is_over && left.before.is_done);
        for left in waiting.skip(MAX_WAITING) {
            let _ = fs::remove_file(&left.path);
        }
        let moved = records
            .iter()
            .filter(|_| at_start)
            .flat_map(|left| left.moved.keys());
        let found = placed::find(root, &moved.copied().collect());
        let all = records.into_iter();
        all.flat_map(|left| self.recover_one(left, root, at_start, &found))
            .collect()
    }

    fn recover_one(
        &self,
        left: Left,
        root: &Path,
        at_start: bool,
        found: &Folders,
    ) -> Vec<ProtectedFile> {
        let Left {
            path,
            is_over,
            before,
            mut moved,
            ..
        } = left;
        let of = path_of(&before.root);
        let is_here = root.starts_with(&of) || of.starts_with(root);
        let is_there = !moved.values().any(|moved| *moved == of);
        let (mut told, mut unfinished) = (Vec::new(), before.only.iter().map(path_of).collect());
        let mut is_done = before.is_done;
        if !is_done && is_there && (is_over || at_start && is_here) {
            match self.look_again(&of, before.clone()) {
                Some(outcome) => {
                    is_done = true;
                    unfinished = outcome.unfinished.clone();
                    told.extend(outcome.into_files());
                }
                // The record stays, and the next session looks again.
                None if is_here => told.extend(Outcome::unknown().into_files()),
                None => {}
            }
        }
        let mut places: Vec<_> = moved
            .iter()
            .filter_map(|(id, path)| Some((path.clone(), found.get(id)?)))
            .collect();
        // A folder covers those that have been moved with it.
        places.sort();
        for (from, place) in places {
            if !moved.values().any(|path| *path == from) {
                continue;
            }
            let root = if place.starts_with(root) { root } else { place };
            match self.look_again(root, before.at(&from, place, root)) {
                Some(outcome) => {
                    if outcome.unfinished.is_empty() {
                        is_done |= from == of;
                        moved.retain(|id, path| {
                            !rebased(path, &from, place).is_some_and(|path| id.is_at(&path))
                        });
                    }
                    told.extend(outcome.into_files());
                }
                None => told.extend(Outcome::unknown().into_files()),
            }
        }
        if is_over {
            finish(&path, before, &unfinished, &moved, is_done);
        }
        told
    }

    /// Returns what there was before each program that still runs in this workspace, and the folders that it may write.
    pub(crate) fn running(&self, root: &Path) -> Vec<(BTreeMap<PathBuf, Found>, Vec<PathBuf>)> {
        let records = entries(&self.folder().join(FOLDER)).filter_map(|path| {
            let file = File::open(path).ok()?;
            // The record of a program that has ended is not locked.
            if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
                return None;
            }
            let (before, _) = placed::read::<Before>(&text(file)?).ok()?;
            let of = path_of(&before.root);
            if !(root.starts_with(&of) || of.starts_with(root)) {
                return None;
            }
            let folders = before
                .trees
                .iter()
                .map(|tree| absolute(&of, tree))
                .collect();
            Some((
                before
                    .found
                    .into_iter()
                    .map(|(path, found)| (path_of(&path), found))
                    .collect(),
                folders,
            ))
        });
        records.collect()
    }

    /// Returns `None` if there is too much to look at.
    fn look_again(&self, root: &Path, before: Before) -> Option<Outcome> {
        let Before {
            trees,
            is_kept,
            skipped,
            origin,
            paths,
            found,
            only,
            ..
        } = before;
        let only: Vec<PathBuf> = only.iter().map(path_of).collect();
        let judge = Judge::strict(SensitivePaths::default().with_paths(paths));
        let found: BTreeMap<PathBuf, Found> = found
            .into_iter()
            .map(|(path, found)| (path_of(&path), found))
            .collect();
        let mut skipped: Vec<PathBuf> = skipped.iter().map(path_of).collect();
        let mut look = Look {
            judge: &judge,
            root,
            trees: &trees,
            is_kept: false,
            skipped: &[],
            may_redirect: false,
            keeps_content: false,
        };
        if is_kept {
            // The walls kept programs from the content of these folders.
            let kept = found.iter().filter(|(path, found)| {
                found.is_kept_folder() && judge.matters(&look.relative(path))
            });
            skipped.extend(kept.map(|(path, _)| path.clone()));
        }
        look.skipped = &skipped;
        let former = Protected::from_found(found);
        let now = look.find().ok()?;
        Some(self.set_aside(&look, &former, &now, &only, &origin))
    }
}

impl Left {
    /// Reads a record. Returns `None` if it is none, or is not complete.
    fn read(path: PathBuf) -> Option<Self> {
        let is_record = path.extension().is_some_and(|is| is == "json");
        let file = File::open(&path).ok().filter(|_| is_record)?;
        let is_over = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        let (before, folders) = placed::read::<Before>(&text(&file)?).ok()?;
        Some(Self {
            path,
            _file: file,
            is_over,
            before,
            moved: placed::moved(&folders),
        })
    }
}

impl Before {
    /// Returns what there was in a folder that lies at another place now, seen from a root around it.
    fn at(&self, from: &Path, place: &Path, root: &Path) -> Self {
        let of = path_of(&self.root);
        let trees = self.trees.iter().filter_map(|tree| {
            let above = absolute(&of, tree);
            let is_around = tree.is_tree && from.starts_with(&above);
            let now = if is_around {
                place.to_owned()
            } else {
                rebased(&above, from, place)?
            };
            let below = now.strip_prefix(root).ok()?.to_string_lossy();
            Some(Tree {
                path: if below.is_empty() {
                    ".".to_owned()
                } else {
                    below.into_owned()
                },
                is_tree: tree.is_tree,
            })
        });
        let there =
            |path: &Bytes| rebased(&path_of(path), from, place).map(|path| Bytes::from_path(&path));
        let skipped = self
            .skipped
            .iter()
            .map(|path| there(path).unwrap_or_else(|| path.clone()));
        let found = self.found.iter();
        Self {
            root: Bytes::from_path(root),
            trees: trees.collect(),
            skipped: skipped.collect(),
            found: found
                .filter_map(|(path, found)| Some((there(path)?, found.clone())))
                .collect(),
            only: Vec::new(),
            ..self.clone()
        }
    }
}

/// Returns the path of a tree.
fn absolute(root: &Path, tree: &Tree) -> PathBuf {
    if tree.path == "." {
        return root.to_owned();
    }
    root.join(&tree.path)
}

fn text(mut file: impl io::Read) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    Some(text)
}
