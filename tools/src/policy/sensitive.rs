//! [`SensitivePaths`]: files whose content runs or configures programs.

mod dot_name;
mod index;
mod lifted;
mod naming;
mod pattern;
mod table;

use std::cmp::Reverse;
use std::fmt::Display;

use once_cell::sync::Lazy;
use protocol::{Access, Grant, InvalidTarget, Normaliser, Target, ToolNames};
use serde::{Deserialize, Serialize};

use self::index::Index;
use super::{Policy, Rule, Verdict};

/// The consequence of writing a file, ordered by the approval that a write needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sensitivity {
    /// A build or test tool runs the file. A write needs the same approval as for other files; approval and result describe the
    /// file.
    BuildFile,
    /// The path has a name that begins with a dot, and neither the table nor the list of harmless names has it. A write by a tool needs
    /// approval unless a clause of the grant or an allowing rule of the policy contains the name. Programs may write the file.
    DotFile,
    /// A program runs the file, or commands in it, without a build. A write needs approval unless a clause of the grant or an
    /// allowing rule of the policy names the file.
    RunsByItself,
    /// The file configures Toolcrib. Each write or removal needs approval, regardless of the grant.
    Settings,
}

/// An entry of [`SensitivePaths`]: a pattern, its sensitivity and a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SensitivePath {
    /// The pattern: resolved lexically, without a leading `**/`, and with a leading `/` if it matches only from the root.
    pub pattern: String,
    /// The sensitivity of the paths that the pattern matches.
    pub sensitivity: Sensitivity,
    /// The note: a description of the file and of the program that runs it.
    pub note: String,
}

/// A table of sensitive paths of the scheme `fs`: settings, files that programs run, and build files.
///
/// The [default](Self::default) is the built-in table, which the README of `toolcrib-fs` lists. A host adds its own paths and passes
/// the table to [`Host::with_sensitive_paths`](crate::Host::with_sensitive_paths).
///
/// # Patterns
/// - A pattern matches at any depth, or only from the root if it begins with `/`.
/// - `*` matches any text within a name. `**` at the end matches everything below.
/// - ASCII letters match regardless of case, because some file systems ignore case.
/// - A parent directory of a match also matches, such as `.github` for `.github/workflows/**`: moving a directory there moves its
///   content too.
///
/// # Dot files
/// A dot file or dot folder that no entry covers is a [`DotFile`](Sensitivity::DotFile), at any depth, as is everything below it, unless
/// its name is known to be harmless, such as `.gitignore` and `.cache`. A list of sensitive names cannot be complete, because each program
/// has its own. [`find`](Self::find) returns one entry for all such paths, which is not among the [`paths`](Self::paths). In a
/// [home](Self::with_home), no name is harmless.
///
/// # Naming an entry
/// A clause *names* an entry if it covers the target and contains the entry's first segment without wildcards as a literal
/// segment, or all of these for an entry that begins with `/`. `fs:write:**/.git/**` names `.git/config`; `fs:write:**`, `fs:write:.gi?/**` and `fs:write:{.git,src}/**` do not. Each
/// layer of a grant must name the entry, so an intersection never names more than either side. If several entries match, each must be
/// named, except that `.git/**` and `.bare/**` stand for each `HEAD` inside of them: `fs:write:.git/**` names `.git/HEAD`, and does not
/// name `.git/.envrc`.
///
/// ```
/// use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
///
/// let paths = SensitivePaths::default()
///     .with_paths([SensitivePath::new("deploy/*.yaml", Sensitivity::RunsByItself, "a deployment: the cluster applies it")?]);
/// assert_eq!(paths.find("sub/.git/config").unwrap().sensitivity, Sensitivity::RunsByItself);
/// assert_eq!(paths.find("deploy/web.yaml").unwrap().note, "a deployment: the cluster applies it");
/// assert_eq!(paths.find("sub/.unheard-of").unwrap().sensitivity, Sensitivity::DotFile);
/// assert!(paths.find("src/main.rs").is_none() && paths.find(".gitignore").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct SensitivePaths {
    paths: Vec<SensitivePath>,
    index: Index,
    is_in_settings: bool,
}

static BUILT_IN: Lazy<SensitivePaths> = Lazy::new(|| {
    SensitivePaths {
        paths: Vec::new(),
        index: Index::default(),
        is_in_settings: false,
    }
    .with_paths(table::paths())
});

impl SensitivePath {
    /// Creates an entry. The note describes the file and the program that runs it, as a phrase that can follow "PATH is".
    ///
    /// # Errors
    /// Returns an error if the pattern is the root, or not a path below it.
    pub fn new(
        pattern: impl AsRef<str>,
        sensitivity: Sensitivity,
        note: impl Into<String>,
    ) -> Result<Self, InvalidTarget> {
        let (begin, path) = match pattern.as_ref().strip_prefix('/') {
            Some(path) => ("/", path),
            None => ("", pattern.as_ref().trim_start_matches("**/")),
        };
        let path = Normaliser::Path.apply(path)?;
        if path == "." {
            return Err(InvalidTarget::Empty);
        }
        Ok(Self {
            pattern: format!("{begin}{path}"),
            sensitivity,
            note: note.into(),
        })
    }

    /// Creates an entry for a path outside of the root, relative to it (`../env/dev`). No call names it, but a session whose root lies around
    /// both has it as an entry while a program of this session runs.
    pub fn outside(path: impl Display, sensitivity: Sensitivity, note: impl Into<String>) -> Self {
        Self {
            pattern: format!("/{path}"),
            sensitivity,
            note: note.into(),
        }
    }

    /// Returns a phrase that describes a matching path and can follow "PATH is". Says so if only a path below it matches.
    pub fn describe(&self, path: &str) -> String {
        match pattern::find(&self.pattern, &pattern::names(path)) {
            Some(false) => format!("on the way to `{}`, {}", self.pattern, self.note),
            _ => self.note.clone(),
        }
    }

    /// Returns true if the pattern matches the path itself, not only a path below it.
    pub(super) fn is_whole(&self, path: &str) -> bool {
        pattern::find(&self.pattern, &pattern::names(path)) == Some(true)
    }

    /// Returns true if the pattern matches the path or a path below it.
    pub(crate) fn covers(&self, path: &str) -> bool {
        pattern::find(&self.pattern, &pattern::names(path)).is_some()
    }

    /// Returns true if every layer of the grant has a clause that covers the target and names this entry.
    fn is_named_in(&self, grant: &Grant, target: &Target) -> bool {
        grant.layers().all(|layer| {
            layer
                .iter()
                .any(|clause| naming::covers(clause, target, self))
        })
    }

    /// Returns true if a rule of the policy allows the call by naming this entry.
    fn is_named_by(&self, policy: &Policy, tool: ToolNames<'_>, target: &Target) -> bool {
        let mut clauses = policy
            .applying(Verdict::Allow, tool, Some(target))
            .filter_map(Rule::target);
        clauses.any(|clause| naming::covers(clause, target, self))
    }
}

impl SensitivePaths {
    /// Adds entries. If several entries match a path, the most sensitive holds.
    pub fn with_paths(mut self, paths: impl IntoIterator<Item = SensitivePath>) -> Self {
        for path in paths {
            self.index.add(self.paths.len(), &path.pattern);
            self.paths.push(path);
        }
        self.paths.shrink_to_fit();
        self
    }

    /// Adds the names with a dot of a user's home, a folder below the root or `.`, that are known to be harmless elsewhere. There, shells and
    /// tools run files of caches.
    pub fn with_home(self, home: &str) -> Self {
        self.with_paths(dot_name::entries_of_home(home))
    }

    /// Makes each path that no entry covers a [`DotFile`](Sensitivity::DotFile): the root lies in a folder of settings, such as `~/.config`,
    /// where files with ordinary names run or configure programs.
    pub fn in_settings_folder(self) -> Self {
        Self {
            is_in_settings: true,
            ..self
        }
    }

    /// Adds what the entries say of paths below a root at this absolute path: `/workflows/**` below `/p/.github`, and all paths below
    /// `/p/.git/hooks`, which is then a [folder of settings](Self::in_settings_folder).
    pub fn below(self, root: &str) -> Self {
        let names: Vec<&str> = root.split('/').filter(|name| !name.is_empty()).collect();
        // Tools put whole checkouts there, such as `.claude/worktrees/NAME`.
        let checkout = names.iter().rposition(|name| *name == "worktrees");
        let names = &names[checkout.map_or(0, |at| at + 1)..];
        let inner = [names, &["file"]].concat().join("/");
        if self
            .matching(Sensitivity::RunsByItself, &inner)
            .any(|entry| entry.is_whole(&inner))
        {
            return self.in_settings_folder();
        }
        let entries = self.paths.iter().flat_map(|entry| {
            pattern::rests(&entry.pattern, names).map(|rest| SensitivePath {
                pattern: format!("/{rest}"),
                ..entry.clone()
            })
        });
        let entries: Vec<_> = entries.collect();
        self.with_paths(entries)
    }

    /// Returns true if the root lies in a folder of settings.
    pub fn is_in_settings_folder(&self) -> bool {
        self.is_in_settings
    }

    /// Returns the entries, without the one of dot files.
    pub fn paths(&self) -> &[SensitivePath] {
        &self.paths
    }

    /// Returns the entry that holds for a path below the root, or `None` if no pattern matches and it is no dot file.
    ///
    /// - Of several entries the most sensitive holds, then the one that matches nearest to the root, then one of the path itself, then
    ///   the first.
    /// - It compares names only. Its cost depends on the number of names in the path, hardly on the size of the table.
    pub fn find(&self, path: &str) -> Option<&SensitivePath> {
        self.matching(Sensitivity::BuildFile, path).next()
    }

    /// Returns the entry that holds for a call on a target. Returns `None` for reads, for removals other than of settings, and if
    /// no pattern matches.
    pub fn find_target(&self, target: &Target) -> Option<&SensitivePath> {
        self.matching_target(target).next()
    }

    /// Returns the entries that match a path with at least this sensitivity. The entry that holds is the first. A folder of git stands
    /// for each `HEAD` in it.
    fn matching(&self, least: Sensitivity, path: &str) -> impl Iterator<Item = &SensitivePath> {
        let names = pattern::names(path);
        // The number of each entry that matches, and the names before the match that is nearest to the root.
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut dot_file = None;
        // The number of names until the end of the last match.
        let mut known = 0;
        for (depth, name) in names.iter().enumerate() {
            for number in self.index.candidates(name) {
                let entry = &self.paths[number];
                if pattern::find_at(&entry.pattern, &names, depth).is_some() {
                    known = known.max(depth.saturating_add(pattern::count_names(&entry.pattern)));
                    if !found.iter().any(|(other, _)| *other == number) {
                        found.push((number, depth));
                    }
                }
            }
            if dot_file.is_none() && depth >= known && dot_name::is_unknown(name) {
                dot_file = Some((dot_name::entry(), depth));
            }
        }
        let is_strict = |number: &usize| self.paths[*number].sensitivity > Sensitivity::DotFile;
        if self.is_in_settings && !found.iter().any(|(number, _)| is_strict(number)) {
            dot_file = Some((dot_name::entry_of_settings(), 0));
        }
        found.sort_unstable();
        let entries = found
            .into_iter()
            .map(|(number, depth)| (&self.paths[number], depth))
            .chain(dot_file);
        let mut matching: Vec<_> = entries
            .filter(|(entry, _)| entry.sensitivity >= least)
            .collect();
        // Of two at one place, the one of the path itself, not of what could be below it.
        matching.sort_by_cached_key(|(entry, depth)| {
            (Reverse(entry.sensitivity), *depth, !entry.is_whole(path))
        });
        let is_in_git = matching
            .iter()
            .any(|(entry, _)| table::is_folder_of_git(entry));
        // Git has a file `HEAD` in several of its folders, such as `logs`. A clause that names the repository means them too.
        matching.retain(|(entry, _)| !is_in_git || !table::is_head(entry));
        matching.into_iter().map(|(entry, _)| entry)
    }

    fn matching_target(&self, target: &Target) -> impl Iterator<Item = &SensitivePath> {
        let least = match target.access() {
            _ if target.scheme() != "fs" => None,
            Access::Read => None,
            Access::Write => Some(Sensitivity::BuildFile),
            // To remove a file runs nothing; to remove settings takes away what they forbid.
            Access::Destroy => Some(Sensitivity::Settings),
        };
        least
            .into_iter()
            .flat_map(|least| self.matching(least, target.value()))
    }

    /// Returns the entries that make a granted target need approval. Empty if it needs none.
    ///
    /// Each matching entry must be named separately: `fs:write:.vscode/**` does not name `.vscode/.git/config`. Settings cannot be
    /// named.
    pub(crate) fn needing_approval(
        &self,
        grant: &Grant,
        policy: Option<(&Policy, ToolNames<'_>)>,
        target: &Target,
    ) -> impl Iterator<Item = &SensitivePath> {
        self.matching_target(target)
            .filter(move |entry| match entry.sensitivity {
                Sensitivity::BuildFile => false,
                Sensitivity::DotFile | Sensitivity::RunsByItself => {
                    !entry.is_named_in(grant, target)
                        && !policy
                            .is_some_and(|(policy, tool)| entry.is_named_by(policy, tool, target))
                }
                Sensitivity::Settings => true,
            })
    }

    /// Returns the rules on whose naming a sensitive target depends: those that name the first entry which the grant does not name.
    /// Empty if the grant names every entry.
    pub(super) fn naming_rules<'a>(
        &self,
        grant: &Grant,
        allowing: &[&'a Rule],
        target: &Target,
    ) -> Vec<&'a Rule> {
        let can_be_named = [Sensitivity::DotFile, Sensitivity::RunsByItself];
        let mut entries = self
            .matching_target(target)
            .filter(|entry| can_be_named.contains(&entry.sensitivity));
        let Some(entry) = entries.find(|entry| !entry.is_named_in(grant, target)) else {
            return Vec::new();
        };
        let naming = allowing.iter().copied().filter(|rule| {
            rule.target()
                .is_some_and(|clause| naming::covers(clause, target, entry))
        });
        naming.collect()
    }

    /// Returns the shared built-in table.
    pub(crate) fn built_in() -> &'static Self {
        &BUILT_IN
    }
}

/// Returns the built-in table.
impl Default for SensitivePaths {
    fn default() -> Self {
        Self::built_in().clone()
    }
}

#[cfg(test)]
mod differential;
#[cfg(test)]
mod tests;
