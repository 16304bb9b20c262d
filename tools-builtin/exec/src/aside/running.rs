//! [`RunningRecord`]: what there was before a program, for a host that dies while it runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use tools::ProtectedFile;
use tools::policy::{SensitivePath, SensitivePaths};

use super::carry::{create_file, create_folder, path_of};
use super::{Aside, Origin, Outcome, entries, now};
use crate::protected::{Bytes, Found, Judge, Look, Protected, Tree};

/// The folder of the records.
const FOLDER: &str = "running";

/// A file with what there was before a program, which is locked while its host lives. A drop leaves it: the look after the program was
/// not made then, and the next session makes it.
#[derive(Debug)]
pub(crate) struct RunningRecord {
    path: PathBuf,
    _locked: File,
}

#[derive(Serialize, Deserialize)]
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
        fs::rename(&unfinished, &path)?;
        Ok(Self {
            path,
            _locked: locked,
        })
    }

    /// Removes the record after the look, or keeps it for the paths that are unfinished.
    pub(crate) fn finish(self, unfinished: &[PathBuf]) {
        finish(&self.path, unfinished);
    }
}

/// Removes a record, or keeps it for the paths that are unfinished. One that cannot be changed is looked at once more as it is.
fn finish(path: &Path, unfinished: &[PathBuf]) {
    if unfinished.is_empty() {
        let _ = fs::remove_file(path);
        return;
    }
    let narrowed = fs::read(path)
        .ok()
        .and_then(|text| serde_json::from_slice::<Before>(&text).ok())
        .and_then(|before| {
            let only = unfinished
                .iter()
                .map(|path| Bytes::from_path(path))
                .collect();
            serde_json::to_vec(&Before { only, ..before }).ok()
        });
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

    fn recover_with(&self, root: &Path, with_running: bool) -> Vec<ProtectedFile> {
        let records = entries(&self.folder().join(FOLDER))
            .filter(|path| path.extension().is_some_and(|is| is == "json"));
        records
            .flat_map(|path| {
                self.recover_one(&path, root, with_running)
                    .unwrap_or_default()
            })
            .collect()
    }

    fn recover_one(
        &self,
        path: &Path,
        root: &Path,
        with_running: bool,
    ) -> Option<Vec<ProtectedFile>> {
        let mut file = File::open(path).ok()?;
        let is_over = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if !is_over && !with_running {
            return None;
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).ok()?;
        let before = serde_json::from_slice::<Before>(&text).ok()?;
        let of = path_of(&before.root);
        let is_here = root.starts_with(&of) || of.starts_with(root);
        if !is_over && !is_here {
            return None;
        }
        let outcome = match self.look_again(&of, before) {
            Some(outcome) => outcome,
            // The record stays, and the next session looks again.
            None => return is_here.then(|| Outcome::unknown().into_files()),
        };
        if is_over {
            finish(path, &outcome.unfinished);
        }
        Some(outcome.into_files())
    }

    /// Returns what there was before each program that still runs in this workspace, and the folders that it may write.
    pub(crate) fn running(&self, root: &Path) -> Vec<(BTreeMap<PathBuf, Found>, Vec<PathBuf>)> {
        let records = entries(&self.folder().join(FOLDER)).filter_map(|path| {
            let file = File::open(path).ok()?;
            // The record of a program that has ended is not locked.
            if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
                return None;
            }
            let before = serde_json::from_reader::<_, Before>(io::BufReader::new(file)).ok()?;
            let of = path_of(&before.root);
            if !(root.starts_with(&of) || of.starts_with(root)) {
                return None;
            }
            let folders = before.trees.iter().map(|tree| {
                if tree.path == "." {
                    of.clone()
                } else {
                    of.join(&tree.path)
                }
            });
            let folders = folders.collect();
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
