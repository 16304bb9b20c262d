//! [`RunningPrograms`]: the programs of sessions that may write files, each on disk before it starts.

mod displaced;

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use std::{io, process};

use host::folders;
use host::placed::{self, FolderId, Folders, rebase};
use host::running::{self, Followed, Program, ProgramRecord, Reach};
use serde::{Deserialize, Serialize};
use tools::IgnorePoison as _;
use tools_store::private;

use crate::records::{self, now};

/// The longest time for which the end of this process waits for its programs.
const GRACE: Duration = Duration::from_secs(5);

/// The most times of lost programs, and of moved folders. Of more, the first two become one.
const MAX_LOST: usize = 16;

/// The most folders of a time.
const MAX_MOVED: usize = 1000;

/// The beginnings of the names of records.
const PROGRAM: &str = "program-";
const LOST: &str = "lost-";
const MOVED: &str = "moved-";

/// The number of programs of this process whose end is not settled.
static OPEN: Mutex<usize> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// The programs of all sessions, in the state folder of the user.
///
/// - `program-*.json` is a [`Running`] program. Its session holds a lock on the file, so that others see when it has died. One about folders
///   of an ended program lives while a program runs in a root below.
/// - `lost-*.json` is the [`Lost`] time of one whose session died before it had settled the end.
/// - `moved-*.json` is the time of one that could write folders that were not at their paths at its end.
#[derive(Clone, Debug)]
pub(crate) struct RunningPrograms {
    folder: PathBuf,
}

/// A program that may write files of a workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) root: PathBuf,
    trees: Vec<PathBuf>,
    /// The paths in the trees that it may not write.
    kept: Vec<PathBuf>,
    /// The folders of git among them.
    spared: Vec<FolderId>,
    /// The time in nanoseconds since 1970.
    pub(crate) from: u64,
    /// The process of its session.
    pub(crate) process: u32,
    /// True if it has ended, and programs of roots below may write the trees, because it may have moved folders out of these roots.
    #[serde(default)]
    is_later: bool,
}

/// The time in which a program could write whose end no session has settled.
///
/// A person may have moved a repository away that it wrote, so only times tell it: those of the last changes of its files, which no
/// program can choose. Later commits and `git gc` leave some of its files as they are, such as `config` and `HEAD`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lost {
    from: u64,
    pub(crate) until: u64,
    /// The folders of git that it could not write.
    pub(crate) spared: Vec<FolderId>,
    /// The folders in which it could write. Empty for all places.
    #[serde(default)]
    folders: BTreeSet<FolderId>,
}

type Record = ProgramRecord<Running>;

/// The locked record of a program. A drop leaves it to other sessions, unless it was removed.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) program: Running,
    /// The file, its lock, and the folders of the program.
    followed: Arc<Followed>,
}

impl Running {
    /// Describes a program that is about to start, and may write these trees, except for the kept paths.
    pub(crate) fn new(root: &Path, trees: &[PathBuf], kept: &[PathBuf]) -> Self {
        // A path that no record can have stands for the root, or is kept from no program.
        let trees = trees
            .iter()
            .map(|tree| tree.to_str().map_or(root, Path::new).to_owned());
        let textual = kept.iter().filter(|path| path.to_str().is_some());
        Self {
            root: root.to_owned(),
            trees: trees.collect(),
            kept: textual.cloned().collect(),
            spared: kept
                .iter()
                .filter(|path| path.ends_with(".git"))
                .filter_map(|git| FolderId::of(git))
                .collect(),
            from: placed::recently(),
            process: process::id(),
            is_later: false,
        }
    }

    /// Returns the trees at or below the root that it may write.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Path> {
        self.trees.iter().filter_map(|tree| {
            if self.root.starts_with(tree) {
                Some(&*self.root)
            } else {
                Some(&**tree).filter(|tree| tree.starts_with(&self.root))
            }
        })
    }

    /// Returns it with its paths after a move of the root.
    fn at(&self, root: &Path) -> Self {
        let place = |path: &Path| rebase(path, &self.root, root);
        Self {
            root: root.to_owned(),
            trees: self.trees().filter_map(place).collect(),
            kept: self.kept.iter().filter_map(|path| place(path)).collect(),
            ..self.clone()
        }
    }

    /// Returns the time until now in those of its folders that are not at their paths. Returns `None` without such a folder.
    fn to_lost(&self, moved: Folders) -> Option<Lost> {
        let folders: BTreeSet<_> = moved.into_keys().take(MAX_MOVED).collect();
        (!folders.is_empty()).then(|| Lost {
            folders,
            ..Lost::from(self.clone())
        })
    }

    /// Returns true if it may write the path, or something in it.
    pub(crate) fn may_write(&self, path: &Path) -> bool {
        let mut trees = self.trees.iter();
        !self.kept.iter().any(|kept| path.starts_with(kept))
            && trees.any(|tree| path.starts_with(tree) || tree.starts_with(path))
    }
}

impl Lost {
    /// Returns true if the program could write at that time.
    pub(crate) fn contains(&self, time: u64) -> bool {
        (self.from..=self.until).contains(&time)
    }

    /// Returns true if the program could write in these folders, of which one is around the others.
    pub(crate) fn may_be_in(&self, around: &BTreeSet<FolderId>) -> bool {
        let is_spared = self.spared.iter().any(|spared| around.contains(spared));
        !is_spared && (self.folders.is_empty() || !self.folders.is_disjoint(around))
    }

    /// Adds the time of a later one. Of too many folders, those of the later one remain.
    fn extend(&mut self, later: Self) {
        self.until = self.until.max(later.until);
        self.spared.retain(|spared| later.spared.contains(spared));
        if self.folders.len() + later.folders.len() > MAX_MOVED {
            self.folders.clear();
        }
        self.folders.extend(later.folders);
    }
}

impl From<Running> for Lost {
    /// Returns the time of a program that may have written until now.
    fn from(program: Running) -> Self {
        Self {
            from: program.from,
            until: now(),
            spared: program.spared,
            folders: BTreeSet::new(),
        }
    }
}

impl RunningPrograms {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns those of the user. Returns `None` without a state folder.
    pub(crate) fn own() -> Option<Self> {
        Some(Self::new(folders::state()?.join("programs")))
    }

    /// Records a program that is about to start.
    ///
    /// # Errors
    /// Returns an error if it cannot be recorded.
    pub(crate) fn record(&self, program: Running) -> io::Result<Recorded> {
        private::create_folder(&self.folder)?;
        let starts = self.starts()?;
        starts.lock_shared()?;
        let file = running::new_file(&self.folder, PROGRAM);
        let followed = Followed::start(&program, file, File::lock)?;
        *OPEN.lock().ignore_poison() += 1;
        Ok(Recorded { program, followed })
    }

    /// Removes the record of a program whose end is settled, and keeps the time for its moved folders.
    pub(crate) fn end(&self, recorded: &Recorded) {
        let moved = recorded.program.to_lost(recorded.followed.find_moved());
        // A record that stays counts as lost.
        if moved.is_none_or(|moved| self.put_lost(&moved).is_ok()) {
            let _ = private::remove(&recorded.followed.file);
        }
    }

    /// Keeps programs from starting until the returned file is closed.
    ///
    /// # Errors
    /// Returns an error if the state folder cannot be written.
    pub(crate) fn pause(&self) -> io::Result<File> {
        private::create_folder(&self.folder)?;
        let starts = self.starts()?;
        starts.lock()?;
        Ok(starts)
    }

    fn starts(&self) -> io::Result<File> {
        private::open_or_create(&self.folder.join("starts"))
    }

    /// Returns the programs of this root whose end is not settled.
    ///
    /// # Errors
    /// Returns an error if one cannot be read: it may be of any root.
    pub(crate) fn of(&self, root: &Path) -> io::Result<Vec<Running>> {
        let programs = self.all()?.into_iter().map(|it| it.program);
        Ok(programs.filter(|program| program.root == root).collect())
    }

    /// Returns the roots of the programs whose end is not settled.
    ///
    /// # Errors
    /// Returns an error if one cannot be read.
    pub(crate) fn roots(&self) -> io::Result<Vec<PathBuf>> {
        let programs = self.all()?.into_iter();
        Ok(programs.map(|it| it.program.root).collect())
    }

    /// Returns a program of a living session that may write the path.
    ///
    /// # Errors
    /// Returns an error if a record cannot be read.
    pub(crate) fn writer(&self, path: &Path) -> io::Result<Option<Running>> {
        let around = FolderId::around(path);
        let mut all = self.all()?.into_iter();
        let found = all.find(|it| {
            let moved = || it.program.to_lost(placed::find_moved(&it.folders));
            it.is_alive
                && (it.program.may_write(path) || moved().is_some_and(|it| it.may_be_in(&around)))
        });
        Ok(found.map(|it| it.program))
    }

    /// Returns the times of lost programs, and of those whose folders were moved. One that is not settled yet may have written until now.
    ///
    /// # Errors
    /// Returns an error if one cannot be read: it may be of any time.
    pub(crate) fn find_lost(&self) -> io::Result<Vec<Lost>> {
        let all = self.all()?.into_iter();
        let unsettled = all.filter_map(|it| {
            if it.is_alive {
                it.program.to_lost(placed::find_moved(&it.folders))
            } else {
                Some(Lost::from(it.program))
            }
        });
        let mut files = records::list(&self.folder, LOST)?;
        files.append(&mut records::list(&self.folder, MOVED)?);
        let settled = files.iter().map(|file| records::read(file));
        let settled = settled.collect::<io::Result<Vec<Lost>>>()?;
        Ok(settled.into_iter().chain(unsettled).collect())
    }

    /// Calls `settle` with each program whose session has died, and keeps its time.
    ///
    /// # Errors
    /// Returns an error if a record cannot be read or written, or the one of `settle`. Then the program is not settled.
    pub(crate) fn settle(&self, settle: impl Fn(&Running) -> io::Result<()>) -> io::Result<()> {
        let all = self.all()?.into_iter().filter(|it| !it.is_alive);
        for Record { file, program, .. } in all {
            self.put_later(&program)?;
            settle(&program)?;
            if !program.is_later {
                self.put_lost(&Lost::from(program))?;
            }
            // Last, so that a death in between leaves a record that is settled once more.
            private::remove(&file)?;
        }
        Ok(())
    }

    fn put_lost(&self, lost: &Lost) -> io::Result<()> {
        let begin = if lost.folders.is_empty() { LOST } else { MOVED };
        let file_of = |lost: &Lost| {
            let name = format!("{begin}{:020}-{:020}.json", lost.from, lost.until);
            self.folder.join(name)
        };
        records::write(&file_of(lost), lost)?;
        let mut files = records::list(&self.folder, begin)?;
        files.sort_unstable();
        if let [first, second, ..] = &files[..]
            && files.len() > MAX_LOST
        {
            let mut both: Lost = records::read(first)?;
            both.extend(records::read(second)?);
            records::write(&file_of(&both), &both)?;
            for file in [first, second] {
                if *file != file_of(&both) {
                    private::remove(file)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps a record of the folders that have changed while a program ran, for a look when all programs of roots below it have ended. Call
    /// it after the program and before the look at its end.
    ///
    /// # Errors
    /// Returns an error if a record cannot be read or written.
    pub(crate) fn put_later(&self, program: &Running) -> io::Result<()> {
        let all = self.all()?;
        let Some((trees, inner)) = Record::find_later(&all, program) else {
            return Ok(());
        };
        let later = Running {
            trees,
            from: placed::recently(),
            is_later: true,
            process: inner.process,
            ..program.clone()
        };
        records::write(&running::new_file(&self.folder, PROGRAM), &later)
    }

    /// Returns all records whose end is not settled.
    fn all(&self) -> io::Result<Vec<Record>> {
        let files = records::list(&self.folder, PROGRAM)?.into_iter();
        let read = files.filter_map(|file| match Record::read(file, is_locked) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read),
        });
        let mut all = read.collect::<io::Result<Vec<_>>>()?;
        Record::revive(&mut all);
        Ok(all)
    }
}

fn is_locked(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Program for Running {
    fn reach(&self) -> Reach<'_> {
        Reach {
            root: &self.root,
            trees: self.trees().map(Path::to_owned).collect(),
            from: self.from,
            is_later: self.is_later,
        }
    }
}

impl Recorded {
    /// Returns the program with the paths that it has now, if they are known.
    pub(crate) fn now(&self) -> Running {
        let root = self.followed.root();
        root.map_or_else(|| self.program.clone(), |root| self.program.at(&root))
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        self.followed.unlock();
        *OPEN.lock().ignore_poison() -= 1;
        CHANGED.notify_all();
    }
}

/// Waits until the ends of all programs of this process are settled, but not for long.
pub(crate) fn wait_for_ends() {
    let open = OPEN.lock().ignore_poison();
    // A program that cannot be killed is left to the next session.
    let _ = CHANGED.wait_timeout_while(open, GRACE, |open| *open > 0);
}
