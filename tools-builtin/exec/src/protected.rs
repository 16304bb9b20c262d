//! The sensitive paths that a program must not write.

mod changes;
mod former;
mod found;
mod git;
mod judge;
mod link;
mod other_name;
mod unlocked;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use host::open_folder::OpenFolder;
use host::program;
use serde::{Deserialize, Serialize};
use tools::ToolError;
use tools::policy::Sensitivity;
use tools_workspace::{is_folder_of_git, is_repository_part, is_repository_setting};

pub(crate) use self::former::{Bytes, Former};
pub(crate) use self::found::Found;
pub(crate) use self::git::author_settings;
use self::git::{is_harmless, is_harmless_repository, is_head};
pub(crate) use self::judge::Judge;
use self::judge::{is_dot_file, is_sensitive, is_started_at_root};
pub(crate) use self::unlocked::Unlocked;
use self::unlocked::{check_missed, is_closed, missed, open_to_owner};
use crate::report::show_path;
use crate::reserved::without_links;

/// The most entries of a workspace that are looked at for each run.
const MAX_ENTRIES: usize = 200_000;

/// The most names of a path: the cost of each look at it grows with their number.
const MAX_DEPTH: usize = 256;

/// The most bytes of former files that are kept for a run.
const MAX_FORMER: u64 = 32 << 20;

/// The note of a link at a name that no table has.
const STRAY_LINK: &str = "a link to a place that is protected or not looked at, through which your own commands would write there";

/// A look at the writable trees of a workspace.
pub(crate) struct Look {
    pub(crate) judge: Judge,
    pub(crate) root: PathBuf,
    /// The trees, below the root.
    pub(crate) trees: Vec<Tree>,
    /// True if the walls protect the paths, so that their content needs no look.
    pub(crate) is_kept: bool,
    /// The folders that need no look, without links.
    pub(crate) skipped: Vec<PathBuf>,
    /// True if a clause spells a command by which commits go elsewhere or have another author.
    pub(crate) may_redirect: bool,
}

/// A writable file or tree below the root.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub(crate) path: String,
    /// True if all that lies below belongs to it.
    pub(crate) is_tree: bool,
}

/// The sensitive paths below the writable trees of a call: those that neither the grant nor a rule names, which stay protected, and those
/// whose changes a result names anyway.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    /// Absolute paths, sorted.
    pub(crate) found: BTreeMap<PathBuf, Found>,
    /// The names at the root.
    pub(crate) top: BTreeSet<OsString>,
    /// The sensitive files with other names, data of git included.
    linked: Vec<PathBuf>,
    /// The objects of git among them.
    linked_objects: Vec<PathBuf>,
}

/// A path to look at.
struct Waiting {
    /// The path below the root. A name that is not Unicode has a text for the tables, and leads to its own files.
    path: String,
    absolute: PathBuf,
    /// The folder in which the entry is, and its name there. A program that runs meanwhile can put a link on the path.
    folder: Rc<OpenFolder>,
    name: OsString,
    /// True if a directory above it is protected.
    is_below: bool,
    /// The folder that is a repository by itself, of which it is a part: the number of its names, and whether it is protected.
    of_bare: Option<(usize, bool)>,
}

impl Look {
    /// Looks for the paths. Blocks.
    ///
    /// # Errors
    /// Returns an error if the trees have too many entries to look at.
    pub(crate) fn find(&self) -> Result<Protected, ToolError> {
        self.find_among(MAX_ENTRIES, None)
    }

    /// Looks as [`find`](Self::find) does, and keeps the content of files, to put it back.
    pub(crate) fn find_with_content(&self) -> Result<Protected, ToolError> {
        self.find_among(MAX_ENTRIES, Some(MAX_FORMER))
    }

    /// Looks at no more entries than this, and keeps no more bytes of content.
    fn find_among(&self, most: usize, bytes: Option<u64>) -> Result<Protected, ToolError> {
        let mut found = Protected::default();
        if let Ok(root) = OpenFolder::open(&self.root) {
            open_to_owner(&root);
        }
        let names = fs::read_dir(&self.root).into_iter().flatten().flatten();
        found.top = names.map(|entry| entry.file_name()).collect();
        let mut left = most;
        let mut bytes = bytes;
        for tree in &self.trees {
            self.add(&mut found, tree, &mut left, &mut bytes)?;
        }
        Ok(found)
    }

    fn add(
        &self,
        all: &mut Protected,
        tree: &Tree,
        left: &mut usize,
        bytes: &mut Option<u64>,
    ) -> Result<(), ToolError> {
        let absolute = if tree.path == "." {
            self.root.clone()
        } else {
            self.root.join(&tree.path)
        };
        let Some((folder, name)) = self.open_above(&absolute) else {
            return Ok(());
        };
        let mut above = tree.path.match_indices('/').map(|(at, _)| &tree.path[..at]);
        let of_bare = above.find_map(|above| self.find_repository(above, &self.root.join(above)));
        let mut waiting = vec![Waiting {
            path: tree.path.clone(),
            absolute,
            folder: Rc::new(folder),
            name,
            is_below: false,
            of_bare,
        }];
        while let Some(Waiting {
            path,
            absolute,
            folder,
            name,
            is_below,
            of_bare,
        }) = waiting.pop()
        {
            if self
                .skipped
                .iter()
                .any(|skipped| absolute.starts_with(skipped))
            {
                continue;
            }
            let rest = left.checked_sub(1);
            let rest = rest.filter(|_| path.matches('/').count() < MAX_DEPTH);
            *left = rest.ok_or_else(too_many)?;
            let here = folder.entry(&name);
            let metadata = match fs::symlink_metadata(&here) {
                Ok(metadata) => metadata,
                Err(error) => {
                    check_missed(&folder, &error, &absolute, &self.root)?;
                    continue;
                }
            };
            if metadata.is_dir()
                && is_closed(&metadata)
                && let Ok(inner) = folder.open_inner(&name)
            {
                open_to_owner(&inner);
            }
            let found = || {
                metadata
                    .is_dir()
                    .then(|| self.find_repository(&path, &here))?
            };
            let of_bare = of_bare
                .or_else(found)
                .filter(|(depth, _)| !self.runs_beside_git(&path, *depth));
            let git = of_bare
                .map(|(depth, _)| depth)
                .or_else(|| git::depth(&path));
            let is_data = git.is_some_and(|depth| git::is_data(&path, depth));
            let entry = self.judge.find(&path);
            let is_listed = entry.is_some_and(|entry| is_sensitive(entry, &path));
            let is_sensitive = is_listed || of_bare.is_some();
            let names = metadata.nlink();
            let is_linked = is_sensitive && metadata.is_file() && names > 1;
            if is_linked && self.judge.matters(&path) {
                all.linked.push(absolute.clone());
                if is_data && path.split('/').any(|name| name == "objects") {
                    all.linked_objects.push(absolute.clone());
                }
            }
            // So is a path on the way to a file that configures Toolcrib.
            let is_setting = entry.is_some_and(|entry| entry.sensitivity == Sensitivity::Settings);
            // Who replaces a link on the way to a file chooses the file, and whoever writes to one that leads to a file writes that.
            let is_way = metadata.is_symlink()
                && (entry.is_some_and(|entry| entry.sensitivity >= Sensitivity::RunsByItself)
                    || self.judge.matters(&path) && self.leads_astray(&absolute, &here));
            let is_own = || match of_bare {
                Some((_, is_own)) => is_own,
                None => is_listed && self.judge.is_protected(&path),
            };
            // Package managers replace folders of dependencies, whatever is in them.
            let is_protected = !is_below
                && (is_way && is_setting || is_sensitive && is_own())
                && self.judge.matters(&path);
            if metadata.is_dir() && tree.is_tree && !(is_protected && self.is_kept) {
                self.enter(
                    &mut waiting,
                    (&path, &absolute),
                    (&folder, &name),
                    is_below || is_protected,
                    of_bare,
                )?;
            }
            // Only new ones count.
            let is_new_only = !is_sensitive
                && !is_way
                && (entry.is_some_and(is_dot_file)
                    || is_started_at_root(&path, &here, &metadata)
                        && !self.judge.is_spelled(&path));
            // A folder with a checkout may be one of git afterwards in which each part counts for itself.
            let is_data = is_data && !(of_bare.is_some() && is_head(&path));
            if is_protected || is_new_only || is_way || is_sensitive && !is_data {
                let is_git = is_sensitive && git.is_some() || is_listed && is_head(&path);
                let counts = is_new_only || is_git || is_way || is_protected || is_below;
                let stamp = (!metadata.is_dir() && !is_new_only).then(|| found::stamp(&metadata));
                // No wall keeps a link, so a replaced one is put back.
                let is_loose = bytes.is_some()
                    && metadata.is_symlink()
                    && is_protected
                    && !is_setting
                    && link::leads_to_kept(&absolute, &self.root, |path| self.is_free(path));
                // Another name of the file leads around the walls.
                let is_safe =
                    self.is_kept && is_protected && !is_loose && (metadata.is_dir() || names == 1);
                let matters = self.judge.matters(&path);
                // A file that does not count takes no room of the others.
                let keeps = counts && !is_safe && !is_new_only && matters;
                // A clause for the data of git permits no removal of what git obeys.
                let is_obeyed = git.is_some_and(|depth| git::is_lasting(&path, depth));
                let is_guarded = (is_protected || is_below || is_obeyed) && !is_safe && matters;
                // Git runs no sample, so none is put back.
                let former = match bytes {
                    Some(bytes) if keeps && !path.ends_with(".sample") => {
                        Former::read(&here, &metadata, bytes)
                    }
                    _ => None,
                };
                // A build that replaces it, which leaves it another name, must not fail. What it leaves is moved aside.
                let is_built = names > 1 && program::file() == Some(&*absolute);
                let is_kept = is_protected && !is_built && !is_loose;
                let is_link = metadata.is_symlink();
                let is_suspect = false;
                let found = Found {
                    is_kept,
                    is_link,
                    is_setting,
                    counts,
                    is_safe,
                    is_guarded,
                    git,
                    stamp,
                    names,
                    former,
                    is_suspect,
                };
                all.found.insert(absolute, found);
            }
        }
        Ok(())
    }

    /// Opens the folder around a tree. Returns `None` if there is none below the root.
    fn open_above(&self, absolute: &Path) -> Option<(OpenFolder, OsString)> {
        let root = OpenFolder::open(&self.root).ok()?;
        if absolute == self.root {
            return Some((root, ".".into()));
        }
        // A grant can name a tree behind a link of the workspace.
        let above = without_links(absolute.parent()?);
        let below = above.strip_prefix(&self.root).ok()?;
        Some((
            root.open_below(below).ok()?,
            absolute.file_name()?.to_owned(),
        ))
    }

    /// Adds the entries of a folder.
    ///
    /// # Errors
    /// Returns an error if this process cannot open another folder.
    fn enter(
        &self,
        waiting: &mut Vec<Waiting>,
        (path, absolute): (&str, &Path),
        (above, name): (&OpenFolder, &OsStr),
        is_below: bool,
        of_bare: Option<(usize, bool)>,
    ) -> Result<(), ToolError> {
        let folder = match above.open_inner(name) {
            Ok(folder) => Rc::new(folder),
            // A program that still runs has replaced or removed it.
            Err(error) if matches!(error.kind(), NotADirectory | NotFound) => return Ok(()),
            Err(error) => return Err(missed(&error, absolute, &self.root)),
        };
        let entries: Vec<_> = match folder.read_dir() {
            Ok(entries) => entries.flatten().collect(),
            Err(error) => {
                check_missed(&folder, &error, absolute, &self.root)?;
                Vec::new()
            }
        };
        let above = if path == "." { "" } else { &format!("{path}/") };
        let has = |name: &str| {
            let mut names = entries.iter().map(|entry| entry.file_name());
            names.any(|other| other.eq_ignore_ascii_case(name))
        };
        let has_head = git::depth(path).is_none() && has("HEAD");
        let of_head = has_head.then(|| (git::count(path), self.judge.keeps_repository(path)));
        let is_whole = of_head.is_some() && is_folder_of_git(has);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_part = is_repository_setting(&name) || is_whole && is_repository_part(&name);
            let of_bare = of_bare.or(of_head.filter(|_| is_part));
            waiting.push(Waiting {
                path: format!("{above}{name}"),
                absolute: absolute.join(entry.file_name()),
                folder: Rc::clone(&folder),
                name: entry.file_name(),
                is_below,
                of_bare,
            });
        }
        Ok(())
    }

    /// Returns the path below the root, as a text for the tables.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned()
    }

    /// Returns why a path is protected. One that is gone was a link or a file before the program.
    pub(crate) fn note(&self, path: &Path, before: &Protected) -> String {
        let relative = self.relative(path);
        let entry = self.judge.find(&relative);
        let was_link = before.found.get(path).is_some_and(|found| found.is_link);
        if (path.is_symlink() || was_link)
            && !entry.is_some_and(|entry| is_sensitive(entry, &relative))
        {
            return STRAY_LINK.to_owned();
        }
        self.judge.note(&relative, path)
    }

    /// Returns the path below the root, as a person or the model sees it.
    pub(crate) fn show(&self, path: &Path) -> String {
        show_path(path, &self.root)
    }

    /// Returns true if a new or changed path runs nothing, or lies where nobody runs it.
    fn is_harmless(&self, path: &Path, found: &Found, former: Option<&Found>) -> bool {
        let relative = self.relative(path);
        if let Some(depth) = found.git {
            let names: Vec<&str> = relative.split('/').skip(depth).collect();
            // All lines of a file whose content was not kept are new ones.
            let text = former.map(|former| {
                former
                    .former
                    .as_ref()
                    .and_then(Former::text)
                    .unwrap_or_default()
            });
            return if names.is_empty() {
                let entry = self.judge.find(&relative);
                !entry.is_some_and(is_dot_file) && is_harmless_repository(path, &self.root)
            } else {
                is_harmless(
                    path,
                    &names,
                    text,
                    (!self.may_redirect).then_some(&self.root),
                )
            };
        }
        match path.parent() {
            Some(folder) if is_head(&relative) => is_harmless_repository(folder, &self.root),
            _ => !self.judge.matters(&relative),
        }
    }
}

impl Protected {
    /// Returns what an earlier look found.
    pub(crate) fn from_found(found: BTreeMap<PathBuf, Found>) -> Self {
        Self {
            found,
            ..Self::default()
        }
    }

    /// Takes over what there was before a program that still runs below these folders, so that what it makes or changes does not count as
    /// old.
    pub(crate) fn inherit(&mut self, earlier: &BTreeMap<PathBuf, Found>, folders: &[PathBuf]) {
        for (path, found) in self
            .found
            .iter_mut()
            .filter(|(path, _)| folders.iter().any(|above| path.starts_with(above)))
        {
            match earlier.get(path) {
                Some(earlier) => {
                    (found.stamp, found.is_suspect) = (earlier.stamp, earlier.is_suspect);
                    found.former.clone_from(&earlier.former);
                }
                None => (found.is_suspect, found.former) = (true, None),
            }
        }
        // What it has removed was there.
        for (path, gone) in earlier.iter().filter(|(path, _)| !path.exists()) {
            self.found.entry(path.clone()).or_insert_with(|| Found {
                is_kept: false,
                ..gone.clone()
            });
        }
    }

    /// Returns the paths to protect.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let kept = self.found.iter().filter(|(_, found)| found.is_kept);
        kept.map(|(path, _)| path.clone()).collect()
    }

    /// Refuses paths that the walls cannot keep: symbolic links, and names that are not Unicode.
    ///
    /// # Errors
    /// Returns an error that names the first one.
    pub(crate) fn check(&self, root: &Path) -> Result<(), ToolError> {
        for (path, found) in self.found.iter().filter(|(_, found)| found.is_kept) {
            let reason = match (found.is_link, path.to_str()) {
                (true, _) => "is a symbolic link",
                (_, None) => "has a name that is not Unicode",
                _ => continue,
            };
            let path = show_path(path, root);
            let (role, opening) = if found.is_setting {
                (
                    "is or leads to a file that decides what tools may do",
                    String::new(),
                )
            } else {
                (
                    "runs or configures programs",
                    format!(", or name it with fs:write:{path}"),
                )
            };
            return Err(ToolError::execution_failed(format!(
                "{path} {reason}, so programs could replace it, although it {role}; narrow the grant of writes{opening}"
            )));
        }
        Ok(())
    }
}

fn too_many() -> ToolError {
    ToolError::execution_failed(format!(
        "the writable part of the workspace has more than {MAX_ENTRIES} entries, or folders more than {MAX_DEPTH} deep, too many to protect; narrow the grant of writes"
    ))
}

#[cfg(test)]
mod tests;
