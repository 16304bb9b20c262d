//! Shows and removes the mark of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use host::{CommandError, Exit};
use tools::visible_line;

use crate::git::Git;
use crate::mark::{Marks, refs};
use crate::repository::Repository;
use crate::running::Running;
use crate::watch::settle_lost;

/// The most characters of a commit that are shown.
const WIDTH: usize = 160;

/// Lists each object of a repository, whatever leads to it.
const ALL_COMMITS: [&str; 4] = [
    "cat-file",
    "--batch-all-objects",
    "--unordered",
    "--batch-check=%(objecttype) %(objectname)",
];

/// A repository whose files count as those of strangers until the user trusts it.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The folder of git.
    pub(crate) git: PathBuf,
    /// The branches and tags that differ from those before the first session that could write it.
    pub(crate) changed: Vec<ChangedRef>,
    /// Commits of branches and tags that an earlier approval left out, as those of [`ChangedRef::commits`].
    pub(crate) again: Vec<String>,
    /// The number of commits to which no branch and no tag leads, which an approval leaves out.
    pub(crate) unreachable: usize,
    /// The commits that are left out after an approval, those of earlier ones included.
    left_out: BTreeSet<String>,
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

impl From<TrustError> for CommandError {
    fn from(error: TrustError) -> Self {
        let exit = match error {
            TrustError::Written { .. } => Exit::Refused,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

/// Returns the repository of a folder if it is marked, or has commits that an earlier approval left out. `root` is a path without links.
///
/// # Errors
/// Returns an error if a program can write it now, or if the records of programs cannot be read.
pub(crate) fn pending(root: &Path) -> Result<Option<Pending>, TrustError> {
    Marks::own().map_or(Ok(None), |marks| pending_in(&marks, root))
}

/// Removes the mark of the repository of a folder if it still is as the user saw it, after a check of all its objects, and leaves out the
/// commits that were not shown. Returns true if it was. `root` is a path without links.
///
/// # Errors
/// Returns an error if there is no repository, if it is damaged, or if the mark cannot be removed, or the one of [`pending`].
pub(crate) fn clear(
    root: &Path,
    is_seen: impl FnOnce(&Pending) -> bool,
) -> Result<bool, TrustError> {
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the home of the user is not known");
    clear_in(&Marks::own().ok_or_else(missing)?, root, is_seen)
}

pub(crate) fn pending_in(marks: &Marks, root: &Path) -> Result<Option<Pending>, TrustError> {
    let _ = settle_lost(marks);
    let Some(repository) = Repository::find(root) else {
        return Ok(None);
    };
    let is_marked = marks.is_marked(&repository);
    let mut left_out = marks.left_out()?;
    if !is_marked && left_out.is_empty() {
        return Ok(None);
    }
    let git = Git::find(&repository).ok_or_else(|| TrustError::NoGit(repository.top.clone()))?;
    // It could write what is read below.
    let writer = marks.programs.writer(&repository.git())?;
    let now = refs(&repository);
    let mut is_whole = now.is_some();
    let after = now.unwrap_or_default();
    let before = if is_marked {
        first_refs(marks, &repository)
    } else {
        after.clone()
    };
    let reached = reachable(&git, &[&after]);
    is_whole &= reached.is_some();
    let reached = reached.unwrap_or_default();
    let again: Vec<String> = left_out.intersection(&reached).cloned().collect();
    if !is_marked && again.is_empty() {
        return Ok(None);
    }
    if let Some(Running { process, .. }) = writer {
        let git = repository.git();
        return Err(TrustError::Written { git, process });
    }
    let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| before.get(*name) != after.get(*name));
    // A commit is shown once, though `HEAD` and its branch have it.
    let mut known: BTreeSet<String> = before.values().cloned().collect();
    let mut changed = Vec::new();
    for name in names {
        let before = before.get(name).cloned();
        let after = after.get(name).cloned();
        let without = known.iter().map(|known| format!("^{known}"));
        let commits = match &after {
            None => Some(Vec::new()),
            Some(after) => commits(&git, without.chain([after.clone()])),
        };
        is_whole &= commits.is_some();
        known.extend(after.clone());
        changed.push(ChangedRef {
            name: visible_line(name, WIDTH),
            before,
            after,
            commits: commits.unwrap_or_default(),
        });
    }
    let shown = if again.is_empty() {
        Some(Vec::new())
    } else {
        commits(&git, ["--no-walk".to_owned()].into_iter().chain(again))
    };
    // Without a mark, no session has written since the last approval.
    let all = if is_marked {
        git.commits(&ALL_COMMITS)
    } else {
        Some(BTreeSet::new())
    };
    let others = all.zip(reachable(&git, &[&before, &after]));
    is_whole &= shown.is_some() && others.is_some();
    let (all, known) = others.unwrap_or_default();
    let others = all.difference(&known);
    left_out.extend(others.clone().cloned());
    let is_new = |line: &String| !changed.iter().any(|changed| changed.commits.contains(line));
    Ok(Some(Pending {
        git: repository.git(),
        again: shown.into_iter().flatten().filter(is_new).collect(),
        unreachable: others.count(),
        left_out: &left_out - &reached,
        changed,
        is_whole,
    }))
}

/// Returns the branches and tags before the first session that could write the repository.
fn first_refs(marks: &Marks, repository: &Repository) -> BTreeMap<String, String> {
    let first = marks.of(repository).unwrap_or_default().into_iter().next();
    first.map_or_else(BTreeMap::new, |(_, mark)| mark.refs)
}

/// Returns the ids of all commits to which these branches and tags lead. Objects that are gone do not count.
fn reachable(git: &Git, refs: &[&BTreeMap<String, String>]) -> Option<BTreeSet<String>> {
    let tips: BTreeSet<&str> = refs
        .iter()
        .flat_map(|refs| refs.values().map(String::as_str))
        .collect();
    if tips.is_empty() {
        return Some(BTreeSet::new());
    }
    // Without a format, the ids have no word before them.
    let args = ["rev-list", "--ignore-missing", "--format="];
    git.commits(&args.into_iter().chain(tips).collect::<Vec<_>>())
}

pub(crate) fn clear_in(
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
    let seen = pending_in(marks, root)?.filter(|pending| is_seen(pending));
    if let Some(pending) = &seen {
        marks.leave_out(&pending.left_out)?;
        marks.clear(&repository)?;
    }
    Ok(seen.is_some())
}

/// Returns the commits that `git rev-list` finds. Known objects that are gone do not count.
fn commits(git: &Git, revisions: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let format = "--format=tformat:%h %ad %an <%ae>, committed by %cn <%ce>: %s";
    let args = [
        "rev-list",
        "--no-commit-header",
        "--date=short",
        "--ignore-missing",
        format,
    ];
    let args = args.into_iter().map(str::to_owned);
    let args: Vec<String> = args.chain(revisions).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let text = String::from_utf8_lossy(&git.answer(&args)?).into_owned();
    Some(text.lines().map(|line| visible_line(line, WIDTH)).collect())
}
