//! [`Marks`]: the repositories in which a session may have forged commits.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tools::Digest;
use tools_store::private;

use super::git::Git;
use super::repository::{GIT, Repository};
use super::stamp::{identity, stamp, written_below};
use crate::records::{self, now};
use crate::written::CLOCK_LAG;

/// The marks in the state folder of the user.
///
/// - `mark-*.json` is one [`Mark`]. It is there before the write that it is about.
/// - `root-*.json` is a folder below which a session could make repositories, with the time of its last write.
/// - `cleared-*.json` is a repository below such a folder that the user trusts, with the time.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    folder: PathBuf,
}

/// A session that may write the folder of git of a repository.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) git: PathBuf,
    /// The device and number of the folder, by which it is found after a move.
    identity: Option<(u64, u64)>,
    /// The stamp before. With the same stamp now, nothing was written. `None` if something was.
    stamp: Option<String>,
    /// The process of the session.
    process: u32,
    /// The number of the mark in the order of their times.
    at: u64,
    /// The commits of branches and tags before. Empty for a later mark of the same repository.
    pub(super) refs: BTreeMap<String, String>,
}

/// A path at a time.
#[derive(Debug, Serialize, Deserialize)]
struct Dated {
    path: PathBuf,
    identity: Option<(u64, u64)>,
    at: u64,
}

impl Marks {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns true if a session may have forged commits of the repository, or the repository itself.
    pub(super) fn is_marked(&self, repository: &Repository) -> bool {
        let Ok(marks) = self.of(repository) else {
            return true;
        };
        if marks.is_empty() {
            return self.is_below_root(repository);
        }
        let now = stamp(&repository.git());
        for (file, mark) in marks {
            if mark.stamp.is_none() || mark.stamp != now {
                return true;
            }
            if !crate::process::is_alive(mark.process) {
                // It ended without a write. If it cannot be removed, it does no harm.
                let _ = fs::remove_file(file);
            }
        }
        self.is_below_root(repository)
    }

    /// Returns the marks of a repository, the first one first.
    ///
    /// # Errors
    /// Returns an error if one cannot be read: it may be of any repository.
    pub(super) fn of(&self, repository: &Repository) -> io::Result<Vec<(PathBuf, Mark)>> {
        let git = repository.git();
        let identity = identity(&git);
        let is_of =
            |mark: &Mark| mark.git == git || mark.identity.is_some() && mark.identity == identity;
        let mut marks: Vec<(PathBuf, Mark)> = self.all("mark-")?;
        marks.retain(|(_, mark)| is_of(mark));
        marks.sort_by_key(|(_, mark)| mark.at);
        Ok(marks)
    }

    /// Removes the marks of a repository, and notes that the user trusts it now.
    pub(super) fn clear(&self, repository: &Repository) -> io::Result<()> {
        for (file, _) in self.of(repository)? {
            fs::remove_file(file)?;
        }
        let git = repository.git();
        self.put(
            &self.file("cleared", &git),
            &Dated {
                identity: identity(&git),
                path: git,
                at: now(),
            },
        )
    }

    /// Notes that a file tool writes at a path.
    pub(super) fn note_write(&self, root: &Path, path: &Path) -> io::Result<()> {
        if root.starts_with(path) {
            return self.note_root(root);
        }
        let is_git = |part: &&Path| {
            part.file_name()
                .is_some_and(|name| name.eq_ignore_ascii_case(GIT))
        };
        let Some(git) = path.ancestors().filter(is_git).last() else {
            return Ok(());
        };
        let mark = self.mark(git, None);
        if self.has_equal(&mark, None) {
            Ok(())
        } else {
            self.put(&self.next_file(), &mark)
        }
    }

    /// Notes that a program may write these trees, except for the kept ones.
    pub(super) fn watch(
        &self,
        root: &Path,
        trees: &[PathBuf],
        kept: &[PathBuf],
    ) -> io::Result<Watch> {
        let of_repository = root
            .ancestors()
            .map(|folder| folder.join(GIT))
            .find(|git| git.symlink_metadata().is_ok());
        let mut folders = vec![root.join(GIT)];
        folders.extend(of_repository.filter(|git| git.parent() != Some(root)));
        let is_written = |path: &Path| {
            let is_kept = kept.iter().any(|kept| path.starts_with(kept));
            !is_kept
                && trees
                    .iter()
                    .any(|tree| path.starts_with(tree) || tree.starts_with(path))
        };
        let from = now().saturating_sub(CLOCK_LAG.as_nanos() as u64);
        let inside = trees
            .iter()
            .filter(|tree| tree.starts_with(root) || root.starts_with(tree));
        let trees = inside
            .map(|tree| {
                if root.starts_with(tree) {
                    root.to_owned()
                } else {
                    tree.clone()
                }
            })
            .collect();
        let mut watch = Watch {
            marks: self.clone(),
            root: root.to_owned(),
            trees,
            kept: kept.to_vec(),
            from,
            put: Vec::new(),
        };
        if is_written(root) {
            self.note_root(root)?;
        }
        for git in folders.into_iter().filter(|git| is_written(git)) {
            let (file, mark) = (self.next_file(), self.mark(&git, stamp(&git)));
            self.put(&file, &mark)?;
            watch.put.push((file, mark));
        }
        Ok(watch)
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
        let (git, identity) = (git.to_owned(), identity(git));
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
        let is_equal = |other: &Mark| {
            other.stamp.is_none() && other.git == mark.git && other.identity == mark.identity
        };
        let others = self.all::<Mark>("mark-").unwrap_or_default();
        others
            .iter()
            .any(|(other, of)| Some(&**other) != file && is_equal(of))
    }

    fn note_root(&self, root: &Path) -> io::Result<()> {
        self.put(
            &self.file("root", root),
            &Dated {
                path: root.to_owned(),
                identity: None,
                at: now(),
            },
        )
    }

    /// Returns true if a session could have made the repository: it lies below the root of one that wrote later than the user's trust.
    fn is_below_root(&self, repository: &Repository) -> bool {
        let Ok(roots) = self.all::<Dated>("root-") else {
            return true;
        };
        let is_below = |root: &Path| repository.top != root && repository.top.starts_with(root);
        let written = roots
            .into_iter()
            .filter(|(_, root)| is_below(&root.path))
            .map(|(_, root)| root.at)
            .max();
        let Some(written) = written else { return false };
        let git = repository.git();
        let cleared = records::read::<Dated>(&self.file("cleared", &git));
        !cleared.is_ok_and(|cleared| {
            cleared.path == git && cleared.identity == identity(&git) && cleared.at > written
        })
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

    fn put(&self, file: &Path, value: &impl Serialize) -> io::Result<()> {
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

/// The time in which a program may write. A drop ends it, and removes the marks of repositories that it left as they were.
#[derive(Debug)]
pub(super) struct Watch {
    marks: Marks,
    root: PathBuf,
    /// The trees below the root that the program may write.
    trees: Vec<PathBuf>,
    /// The paths in them that it may not.
    kept: Vec<PathBuf>,
    /// The time in nanoseconds since 1970.
    from: u64,
    put: Vec<(PathBuf, Mark)>,
}

impl Watch {
    /// Marks the repositories in folders of the workspace that the program made or wrote. The root's record covers them while they are below
    /// it, and these marks once they have been moved.
    fn mark_below(&self) {
        let is_other = |git: &PathBuf| {
            let is_kept = self.kept.iter().any(|kept| git.starts_with(kept));
            !is_kept && self.put.iter().all(|(_, mark)| mark.git != *git)
        };
        for git in self
            .trees
            .iter()
            .flat_map(|tree| written_below(tree, self.from))
            .filter(is_other)
        {
            let (identity, process) = (identity(&git), std::process::id());
            let mark = Mark {
                git,
                identity,
                stamp: None,
                process,
                at: now(),
                refs: BTreeMap::new(),
            };
            if !self.marks.has_equal(&mark, None) {
                // The record of the root still covers it where it is.
                let _ = self.marks.put(&self.marks.next_file(), &mark);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for (file, mark) in &mut self.put {
            // A mark that stays has the stamp from before, so no error makes the repository the user's.
            let is_unchanged = mark.stamp.is_some() && mark.stamp == stamp(&mark.git);
            mark.stamp = None;
            mark.identity = mark.identity.or_else(|| identity(&mark.git));
            // The one with the earlier branches stays.
            if is_unchanged || mark.refs.is_empty() && self.marks.has_equal(mark, Some(file)) {
                let _ = fs::remove_file(file);
            } else {
                let _ = self.marks.put(file, mark);
            }
        }
        self.mark_below();
        let _ = self.marks.note_root(&self.root);
    }
}

/// Returns the commits of all branches and tags, and of what is checked out.
pub(super) fn refs(repository: &Repository) -> Option<BTreeMap<String, String>> {
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
