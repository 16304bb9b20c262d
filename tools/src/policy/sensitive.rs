//! [`SensitivePaths`]: the files whose writing does more than change a file.

mod naming;
mod pattern;
mod table;

use std::cmp::Reverse;

use once_cell::sync::Lazy;
use protocol::{Access, Grant, InvalidTarget, Normaliser, Target, ToolName};
use serde::Serialize;

use self::pattern::Match;
use super::Policy;

/// The effect of writing a file, beyond its content. The order is by how much it takes to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sensitivity {
    /// A program runs the file when somebody builds or tests. It is written like any other file; the approval and the result say
    /// what it is.
    BuildFile,
    /// A program runs the file, or commands in it, without anybody building anything. Writing it needs a clause of the grant, or
    /// an allowing rule of the policy, that names it; otherwise a person is asked.
    RunsByItself,
    /// The file decides what tools may do. A person is asked each time it is written or destroyed, whatever is granted.
    Settings,
}

/// An entry of [`SensitivePaths`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SensitivePath {
    pattern: String,
    sensitivity: Sensitivity,
    note: String,
}

/// The paths of scheme `fs` whose writing does more than change a file: settings, files that run by themselves, and build files.
///
/// The [default](Self::default) is the built-in table, which the README of `toolcrib-fs` lists. A host adds paths of its own and
/// hands the table to [`ToolContext::with_sensitive_paths`](crate::ToolContext::with_sensitive_paths).
///
/// A pattern matches at any depth, or from the root on if it begins with `/`. Case does not count for ASCII letters, since some
/// file systems ignore it. `*` is any text within one name, and `**` at the end is everything below. A path that leads to a match,
/// such as `.github` of `.github/workflows/**`, matches as well: a directory that is moved there brings its content.
///
/// A clause *names* an entry if it covers the target and contains, as a literal segment, the entry's first segment without
/// wildcards. `fs:write:**/.git/**` names `.git/config`; `fs:write:**`, `fs:write:.gi?/**` and `fs:write:{.git,src}/**` do not. Each
/// layer of a grant needs a clause that names it, so an intersection never names more than either side.
///
/// ```
/// use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
///
/// let paths = SensitivePaths::default()
///     .with_path(SensitivePath::new("deploy/*.yaml", Sensitivity::RunsByItself, "a deployment: the cluster applies it")?);
/// assert_eq!(paths.find("sub/.git/config").unwrap().sensitivity(), Sensitivity::RunsByItself);
/// assert_eq!(paths.find("deploy/web.yaml").unwrap().note(), "a deployment: the cluster applies it");
/// assert!(paths.find("src/main.rs").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensitivePaths(Vec<SensitivePath>);

static BUILT_IN: Lazy<SensitivePaths> = Lazy::new(|| SensitivePaths(table::paths()));

impl SensitivePath {
    /// An entry for the paths that a pattern matches. The note says what the file is and what runs it, in words that can follow
    /// the path and "is".
    ///
    /// # Errors
    /// [`InvalidTarget`] if the pattern is no path below the root, or the root itself.
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
        Ok(Self { pattern: format!("{begin}{path}"), sensitivity, note: note.into() })
    }

    /// The pattern, in normal form.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the sensitivity of the paths that the pattern matches.
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// Returns the note: a description of the file, and of the program that runs it.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// Returns what there is to say of a path that the pattern matches, or that leads to a match, in words that can follow "is".
    pub fn describe(&self, path: &str) -> String {
        match Match::find(&self.pattern, &pattern::names(path)) {
            Some(Match { is_whole: false, .. }) => format!("on the way to `{}`, {}", self.pattern, self.note),
            _ => self.note.clone(),
        }
    }

    /// Returns true if the pattern matches the path, or something below it.
    pub(crate) fn covers(&self, path: &str) -> bool {
        Match::find(&self.pattern, &pattern::names(path)).is_some()
    }

    /// Returns true if every layer of the grant has a clause that covers the target and names this entry.
    fn is_named_in(&self, grant: &Grant, target: &Target) -> bool {
        let is_named = |layer: &[_]| layer.iter().any(|clause| naming::covers(clause, target, self));
        grant.layers().all(is_named)
    }

    /// Returns true if a rule of the policy allows the call by naming this entry.
    fn is_named_by(&self, policy: &Policy, tool: &ToolName, target: &Target) -> bool {
        policy.allowing(tool, target).any(|clause| naming::covers(clause, target, self))
    }
}

impl SensitivePaths {
    /// Adds an entry. It makes nothing less sensitive: of several entries that match a path, the most sensitive holds.
    #[must_use]
    pub fn with_path(mut self, path: SensitivePath) -> Self {
        self.0.push(path);
        self
    }

    /// Adds entries.
    #[must_use]
    pub fn with_paths(mut self, paths: impl IntoIterator<Item = SensitivePath>) -> Self {
        self.0.extend(paths);
        self
    }

    /// The entries.
    pub fn paths(&self) -> &[SensitivePath] {
        &self.0
    }

    /// Returns the entry that holds for a path below the root, `None` if no pattern matches it. Of several, the most sensitive
    /// holds, then the one that matches nearest to the root, then the first.
    pub fn find(&self, path: &str) -> Option<&SensitivePath> {
        self.matching(Sensitivity::BuildFile, path).next()
    }

    /// Returns the entry that holds for what a call does to a target, `None` if the call is as harmless as any other: reading
    /// always is, and destroying is where no settings are lost.
    pub fn find_target(&self, target: &Target) -> Option<&SensitivePath> {
        self.matching_target(target).next()
    }

    /// Returns the entries for a path that are at least as sensitive, the one that holds first.
    fn matching(&self, least: Sensitivity, path: &str) -> impl Iterator<Item = &SensitivePath> {
        let names = pattern::names(path);
        let entries = self.0.iter().filter(|entry| entry.sensitivity >= least);
        let matching = entries.filter_map(|entry| Some((entry, Match::find(&entry.pattern, &names)?.depth)));
        let mut matching: Vec<_> = matching.collect();
        matching.sort_by_key(|(entry, depth)| (Reverse(entry.sensitivity), *depth));
        matching.into_iter().map(|(entry, _)| entry)
    }

    fn matching_target(&self, target: &Target) -> impl Iterator<Item = &SensitivePath> {
        let least = match target.access() {
            _ if target.scheme() != "fs" => None,
            Access::Read => None,
            Access::Write => Some(Sensitivity::BuildFile),
            Access::Destroy => Some(Sensitivity::Settings),
        };
        least.into_iter().flat_map(|least| self.matching(least, target.value()))
    }

    /// Returns the entries because of which a person is asked about a target that is granted, none if nobody needs to be. Each
    /// entry that matches is named by itself: `fs:write:.vscode/**` does not name `.vscode/.git/config`.
    pub(crate) fn unnamed(
        &self,
        grant: &Grant,
        policy: Option<&Policy>,
        tool: Option<&ToolName>,
        target: &Target,
    ) -> impl Iterator<Item = &SensitivePath> {
        let is_allowed = move |entry: &SensitivePath| {
            let by_rule = || policy.zip(tool).is_some_and(|(policy, tool)| entry.is_named_by(policy, tool, target));
            entry.is_named_in(grant, target) || by_rule()
        };
        self.matching_target(target).filter(move |entry| match entry.sensitivity {
            Sensitivity::BuildFile => false,
            Sensitivity::RunsByItself => !is_allowed(entry),
            Sensitivity::Settings => true,
        })
    }

    /// The built-in table, shared.
    pub(crate) fn built_in() -> &'static Self {
        &BUILT_IN
    }
}

/// The built-in table.
impl Default for SensitivePaths {
    fn default() -> Self {
        Self::built_in().clone()
    }
}

#[cfg(test)]
mod tests;
