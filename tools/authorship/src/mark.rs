//! [`Marks`]: the repositories in which a session may have forged commits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

use host::folders;
use host::placed::FolderId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tools::Digest;
use tools_store::private;

use crate::git::Git;
use crate::records::{self, now};
use crate::repository::{GIT, Repository};
use crate::running::{Running, RunningPrograms};
use crate::stamp::{is_changed, stamp, written_below};

/// The name of the record of commits that no approval of the user has shown. It has the ids of all repositories: an id stands for one content, wherever it lies.
const LEFT_OUT: &str = "left-out.json";

/// The marks in the state folder of the user.
///
/// - `mark-*.json` is one [`Mark`]. It is there before the write that it is about.
/// - `root-*.json` is a folder below which a session could make repositories, with the time of its last write.
/// - `cleared-*.json` is a repository below such a folder that the user trusts, with the time.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    pub(crate) folder: PathBuf,
    /// The programs that may write repositories now.
    pub(crate) programs: RunningPrograms,
}

/// A session that may write the folder of git of a repository.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) git: PathBuf,
    /// The numbers of the folder, by which it is found after a move.
    identity: Option<FolderId>,
    /// The stamp before. With the same stamp now, nothing was written. `None` if something was.
    stamp: Option<String>,
    /// The process of the session.
    process: u32,
    /// The number of the mark in the order of their times.
    at: u64,
    /// The commits of branches and tags before. Empty for a later mark of the same repository.
    pub(crate) refs: BTreeMap<String, String>,
}

/// A path at a time.
#[derive(Debug, Serialize, Deserialize)]
struct Dated {
    path: PathBuf,
    identity: Option<FolderId>,
    at: u64,
}

impl Marks {
    /// Returns those in a state folder.
    pub(crate) fn new(folder: PathBuf, programs: RunningPrograms) -> Self {
        Self { folder, programs }
    }

    /// Returns those of the user. Returns `None` without a state folder.
    pub(crate) fn own() -> Option<Self> {
        let folder = folders::state()?.join("authorship");
        Some(Self::new(folder, RunningPrograms::own()?))
    }

    /// Returns true if a session may have forged commits of the repository, or the repository itself.
    pub(crate) fn is_marked(&self, repository: &Repository) -> bool {
        let Ok(marks) = self.of(repository) else {
            return true;
        };
        let now = if marks.is_empty() {
            None
        } else {
            stamp(&repository.git())
        };
        for (file, mark) in marks {
            if mark.stamp.is_none() || mark.stamp != now {
                return true;
            }
            if !is_alive(mark.process) {
                // It ended without a write. If it cannot be removed, it does no harm.
                let _ = fs::remove_file(file);
            }
        }
        self.is_below_root(repository) || self.is_lost(repository)
    }

    /// Returns the marks of a repository, the first one first.
    ///
    /// # Errors
    /// Returns an error if one cannot be read: it may be of any repository.
    pub(crate) fn of(&self, repository: &Repository) -> io::Result<Vec<(PathBuf, Mark)>> {
        let git = repository.git();
        let identity = FolderId::of(&git);
        let is_of =
            |mark: &Mark| mark.git == git || mark.identity.is_some() && mark.identity == identity;
        let mut marks: Vec<(PathBuf, Mark)> = self.all("mark-")?;
        marks.retain(|(_, mark)| is_of(mark));
        marks.sort_by_key(|(_, mark)| mark.at);
        Ok(marks)
    }

    /// Removes the marks of a repository, and notes that the user trusts it now.
    pub(crate) fn clear(&self, repository: &Repository) -> io::Result<()> {
        for (file, _) in self.of(repository)? {
            fs::remove_file(file)?;
        }
        let git = repository.git();
        self.note("cleared", &git, FolderId::of(&git))
    }

    /// Notes that a file tool writes at a path.
    pub(crate) fn note_write(&self, root: &Path, path: &Path) -> io::Result<()> {
        if root.starts_with(path) {
            return self.note("root", root, None);
        }
        let git = path.ancestors().filter(|part| {
            part.file_name()
                .is_some_and(|name| name.eq_ignore_ascii_case(GIT))
        });
        let Some(git) = git.last() else {
            return Ok(());
        };
        let mark = self.mark(git, None);
        if self.has_equal(&mark, None) {
            Ok(())
        } else {
            self.put(&self.next_file(), &mark)
        }
    }

    /// Marks the repositories of the root that a program may write. Returns the marks.
    pub(crate) fn begin(&self, program: &Running) -> io::Result<Vec<(PathBuf, Mark)>> {
        if program.may_write(&program.root) {
            self.note("root", &program.root, None)?;
        }
        let written = of_root(&program.root).filter(|git| program.may_write(git));
        let put = written.map(|git| {
            let file = self.next_file();
            let mark = self.mark(&git, stamp(&git));
            self.put(&file, &mark)?;
            Ok((file, mark))
        });
        put.collect()
    }

    /// Marks the repositories that a program wrote. Removes the marks from its beginning of those that it left as they were.
    ///
    /// # Errors
    /// Returns an error if one may not be marked, because it cannot be found or recorded.
    pub(crate) fn settle(&self, program: &Running, put: Vec<(PathBuf, Mark)>) -> io::Result<()> {
        let mut settled = Ok(());
        for (file, mut mark) in put {
            // A mark that stays has the stamp from before, so no error makes the repository the user's.
            let is_unchanged = mark.stamp.is_some() && mark.stamp == stamp(&mark.git);
            mark.stamp = None;
            mark.identity = mark.identity.or_else(|| FolderId::of(&mark.git));
            // The one with the earlier branches stays.
            if is_unchanged || mark.refs.is_empty() && self.has_equal(&mark, Some(&file)) {
                let _ = fs::remove_file(file);
            } else {
                settled = settled.and(self.put(&file, &mark));
            }
        }
        settled
            .and(self.mark_below(program))
            .and(self.note("root", &program.root, None))
    }

    /// Marks the repositories in folders of the workspace that the program made or wrote. The root's record covers them while they are below
    /// it, and these marks once they have been moved.
    fn mark_below(&self, program: &Running) -> io::Result<()> {
        let own: Vec<_> = of_root(&program.root).collect();
        let mut marked = Ok(());
        for tree in program.trees() {
            let (found, is_whole) = written_below(tree, program.from);
            for git in found {
                let identity = FolderId::of(&git);
                let mark = Mark {
                    git,
                    identity,
                    stamp: None,
                    process: program.process,
                    at: now(),
                    refs: BTreeMap::new(),
                };
                let is_other = program.may_write(&mark.git) && !own.contains(&mark.git);
                if is_other && !self.has_equal(&mark, None) {
                    marked = marked.and(self.put(&self.next_file(), &mark));
                }
            }
            if !is_whole {
                marked = marked.and(Err(io::Error::other("a folder cannot be looked at")));
            }
        }
        marked
    }

    fn mark(&self, git: &Path, stamp: Option<String>) -> Mark {
        let repository = git.parent().map(|top| Repository {
            top: top.to_owned(),
        });
        let is_first =
            |repository: &Repository| self.of(repository).is_ok_and(|marks| marks.is_empty());
        let refs = repository
            .filter(Repository::is_plain)
            .filter(is_first)
            .and_then(|repository| refs(&repository));
        let (git, identity) = (git.to_owned(), FolderId::of(git));
        Mark {
            git,
            identity,
            stamp,
            process: std::process::id(),
            at: now(),
            refs: refs.unwrap_or_default(),
        }
    }

    /// Returns true if another file says for good what this mark would.
    fn has_equal(&self, mark: &Mark, file: Option<&Path>) -> bool {
        let others = self.all::<Mark>("mark-").unwrap_or_default();
        others.iter().any(|(of, other)| {
            let is_equal = other.git == mark.git && other.identity == mark.identity;
            Some(&**of) != file && other.stamp.is_none() && is_equal
        })
    }

    fn note(&self, begin: &str, path: &Path, identity: Option<FolderId>) -> io::Result<()> {
        let dated = Dated {
            path: path.to_owned(),
            identity,
            at: now(),
        };
        self.put(&self.file(begin, path), &dated)
    }

    /// Returns true if a session could have made the repository: it lies below the root of one that wrote later than the user's trust.
    fn is_below_root(&self, repository: &Repository) -> bool {
        let Ok(roots) = self.all::<Dated>("root-") else {
            return true;
        };
        let written = roots
            .into_iter()
            .filter(|(_, root)| {
                repository.top != root.path && repository.top.starts_with(&root.path)
            })
            .map(|(_, root)| root.at)
            .max();
        // At the same time, the write may be the later one.
        written.is_some_and(|written| self.trusted_at(repository) <= written)
    }

    /// Returns true if a program could write the repository later than the user's trust, whose end no session has settled, wherever the
    /// repository lies by now, or whose folders around it were moved.
    fn is_lost(&self, repository: &Repository) -> bool {
        let Ok(mut lost) = self.programs.find_lost() else {
            return true;
        };
        let trusted = self.trusted_at(repository);
        let around = FolderId::around(&repository.git());
        lost.retain(|lost| trusted <= lost.until && lost.may_be_in(&around));
        !lost.is_empty()
            && is_changed(&repository.git(), |time| {
                lost.iter().any(|lost| lost.contains(time))
            })
    }

    /// Returns the time of the user's trust, or 0.
    fn trusted_at(&self, repository: &Repository) -> u64 {
        let git = repository.git();
        let cleared = records::read::<Dated>(&self.file("cleared", &git)).ok();
        cleared
            .filter(|cleared| cleared.path == git && cleared.identity == FolderId::of(&git))
            .map_or(0, |cleared| cleared.at)
    }

    fn all<T: DeserializeOwned>(&self, begin: &str) -> io::Result<Vec<(PathBuf, T)>> {
        let mut all = Vec::new();
        for file in records::list(&self.folder, begin)? {
            match records::read(&file) {
                // It was removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                value => all.push((file, value?)),
            }
        }
        Ok(all)
    }

    /// Returns the commits that lay in a repository when the user approved others, because no branch and no tag led to them.
    ///
    /// # Errors
    /// Returns an error if the record cannot be read.
    pub(crate) fn left_out(&self) -> io::Result<BTreeSet<String>> {
        match records::read(&self.folder.join(LEFT_OUT)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            read => read,
        }
    }

    /// Replaces the record of these commits.
    pub(crate) fn leave_out(&self, commits: &BTreeSet<String>) -> io::Result<()> {
        self.put(&self.folder.join(LEFT_OUT), commits)
    }

    pub(crate) fn put(&self, file: &Path, value: &impl Serialize) -> io::Result<()> {
        private::create_folder(&self.folder)?;
        records::write(file, value)
    }

    fn file(&self, kind: &str, path: &Path) -> PathBuf {
        self.folder.join(format!(
            "{kind}-{}.json",
            Digest::hash_bytes(path.as_os_str().as_encoded_bytes())
        ))
    }

    /// Returns a file that nobody has used.
    fn next_file(&self) -> PathBuf {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!(
            "mark-{}-{}-{count}.json",
            now(),
            std::process::id()
        ))
    }
}

/// Returns true if a process may still run.
fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    process.is_none_or(|process| {
        // Another error says that it belongs to another user, and runs.
        rustix::process::test_kill_process(process) != Err(rustix::io::Errno::SRCH)
    })
}

/// Returns the folder of git of a root, which may be missing, and that of the repository around it.
fn of_root(root: &Path) -> impl Iterator<Item = PathBuf> {
    let mut around = root.ancestors().map(|folder| folder.join(GIT));
    let around = around.find(|git| git.symlink_metadata().is_ok());
    let own = root.join(GIT);
    let around = around.filter(|git| *git != own);
    [own].into_iter().chain(around)
}

/// Returns the commits of all branches and tags, and of what is checked out.
pub(crate) fn refs(repository: &Repository) -> Option<BTreeMap<String, String>> {
    let git = Git::find(repository)?;
    let text =
        String::from_utf8(git.answer(&["for-each-ref", "--format=%(refname) %(objectname)"])?)
            .ok()?;
    let named = text.lines().filter_map(|line| line.split_once(' '));
    let mut refs: BTreeMap<_, _> = named
        .map(|(name, id)| (name.to_owned(), id.to_owned()))
        .collect();
    refs.extend(git.head().map(|id| ("HEAD".to_owned(), id)));
    Some(refs)
}
