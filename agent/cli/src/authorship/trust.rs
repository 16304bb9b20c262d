//! Shows and removes the mark of a repository.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use tools::visible_line;

use super::git::Git;
use super::mark::{Marks, refs};
use super::marks;
use super::repository::Repository;
use super::watch::settle_lost;
use crate::running::Running;

/// The most characters of a commit that are shown.
const WIDTH: usize = 160;

/// A repository whose files count as those of strangers until the user trusts it.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The folder of git.
    pub(crate) git: PathBuf,
    /// The branches and tags that differ from those before the first session that could write it.
    pub(crate) changed: Vec<ChangedRef>,
    /// True if all branches, tags and new commits are known.
    pub(crate) is_whole: bool,
}

/// A branch, a tag, or `HEAD`.
#[derive(Debug)]
pub(crate) struct ChangedRef {
    /// The full name, such as `refs/heads/main`.
    pub(crate) name: String,
    /// The object before. `None` if there was none, or if it is not known.
    pub(crate) before: Option<String>,
    /// The object now. `None` if it was removed.
    pub(crate) after: Option<String>,
    /// Its new commits that no ref before it has, the newest first, each on a line that is safe to print.
    pub(crate) commits: Vec<String>,
}

/// The error of a repository that cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrustError {
    #[error("there is no whole repository of git at or above {}; choose another folder with --root", .0.display())]
    None(PathBuf),
    #[error("git is not installed outside of {}; install it, and try again", .0.display())]
    NoGit(PathBuf),
    #[error("git fsck finds damage in {}; compare it with another clone, or clone it again", .0.display())]
    Damaged(PathBuf),
    #[error(
        "a program of the session in process {process} can write {} now; try again when it has ended",
        git.display()
    )]
    Written { git: PathBuf, process: u32 },
    #[error("cannot change the marks in the state folder: {0}; check its permissions")]
    Marks(#[from] io::Error),
}

/// Returns the repository of a folder if it is marked. `root` is a path without links.
///
/// # Errors
/// Returns an error if a program can write it now, or if the records of programs cannot be read.
pub(crate) fn pending(root: &Path) -> Result<Option<Pending>, TrustError> {
    marks().map_or(Ok(None), |marks| pending_in(&marks, root))
}

/// Removes the mark of the repository of a folder if it still is as the user saw it, after a check of all its objects. Returns true if it
/// was. `root` is a path without links.
///
/// # Errors
/// Returns an error if there is no repository, if it is damaged, or if the mark cannot be removed, or the one of [`pending`].
pub(crate) fn clear(
    root: &Path,
    is_seen: impl FnOnce(&Pending) -> bool,
) -> Result<bool, TrustError> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the home of the user is not known");
    clear_in(&marks().ok_or_else(missing)?, root, is_seen)
}

pub(super) fn pending_in(marks: &Marks, root: &Path) -> Result<Option<Pending>, TrustError> {
    let _ = settle_lost(marks);
    let Some(repository) = Repository::find(root).filter(|found| marks.is_marked(found)) else {
        return Ok(None);
    };
    let git = repository.git();
    if let Some(Running { process, .. }) = marks.programs.writer(&git)? {
        return Err(TrustError::Written { git, process });
    }
    let first = marks
        .of(&repository)
        .ok()
        .and_then(|marks| Some(marks.into_iter().next()?.1.refs));
    let now = refs(&repository);
    let mut is_whole = now.is_some();
    let (before, after) = (first.unwrap_or_default(), now.unwrap_or_default());
    let git = Git::find(&repository);
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let changed = names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name));
    // A commit is shown once, though `HEAD` and its branch have it.
    let mut known: BTreeSet<String> = before.values().cloned().collect();
    let changed = changed.map(|name| {
        let (before, after) = (before.get(name).cloned(), after.get(name).cloned());
        let commits = match (&git, &after) {
            (_, None) => Some(Vec::new()),
            (git, Some(after)) => git.as_ref().and_then(|git| commits(git, &known, after)),
        };
        is_whole &= commits.is_some();
        known.extend(after.clone());
        ChangedRef {
            name: visible_line(name, WIDTH),
            before,
            after,
            commits: commits.unwrap_or_default(),
        }
    });
    let changed = changed.collect();
    Ok(Some(Pending {
        git: repository.git(),
        changed,
        is_whole,
    }))
}

pub(super) fn clear_in(
    marks: &Marks,
    root: &Path,
    is_seen: impl FnOnce(&Pending) -> bool,
) -> Result<bool, TrustError> {
    let repository = Repository::find(root).ok_or_else(|| TrustError::None(root.to_owned()))?;
    let git = Git::find(&repository).ok_or_else(|| TrustError::NoGit(repository.top.clone()))?;
    if !git.succeeds(&["fsck", "--full", "--no-dangling"]) {
        return Err(TrustError::Damaged(repository.git()));
    }
    // No program starts between the look and the removal.
    let _paused = marks.programs.pause()?;
    let is_same = pending_in(marks, root)?.is_some_and(|pending| is_seen(&pending));
    if is_same {
        marks.clear(&repository)?;
    }
    Ok(is_same)
}

/// Returns all commits of a ref that the known objects do not have. Known objects that are gone do not count.
fn commits(git: &Git, known: &BTreeSet<String>, after: &str) -> Option<Vec<String>> {
    let without: Vec<String> = known.iter().map(|known| format!("^{known}")).collect();
    let format = "--format=tformat:%h %ad %an <%ae>, committed by %cn <%ce>: %s";
    let mut args = vec![
        "rev-list",
        "--no-commit-header",
        "--date=short",
        "--ignore-missing",
        format,
        after,
    ];
    args.extend(without.iter().map(String::as_str));
    let text = String::from_utf8_lossy(&git.answer(&args)?).into_owned();
    Some(text.lines().map(|line| visible_line(line, WIDTH)).collect())
}
