//! [`Selection`]: rules that choose a session's tools from a catalog.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use tools::policy::ToolGlob;
use tools::{Entry, join};

/// Rules that choose the tools of a session from a catalog. Without rules, every tool is selected.
///
/// A tool is selected if all of these hold. The order of the rules has no effect:
/// - An include glob matches its name, or there are no include globs.
/// - No exclude glob matches its name.
/// - It is read-only, if [`with_read_only`](Self::with_read_only) is set.
/// - It has at least one of the tags, if there are any.
///
/// Globs match the whole name, or a former name. `*` also matches dots and slashes.
///
/// ```
/// use agent::Selection;
///
/// let files = Selection::parse(["fs.*", "!fs.write"])?.with_read_only(true);
/// assert_eq!(files.to_string(), "fs.* !fs.write, read-only");
/// # Ok::<(), agent::InvalidSelection>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    include: Vec<ToolGlob>,
    exclude: Vec<ToolGlob>,
    read_only: bool,
    tags: BTreeSet<String>,
    is_none: bool,
}

/// A text that does not parse as a rule of a [`Selection`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot select tools by {text:?}: {reason}; write a glob such as `fs.*`, or `!fs.*` to exclude tools"
)]
#[non_exhaustive]
pub struct InvalidSelection {
    /// The text as given.
    pub text: String,
    /// The reason that it does not parse.
    pub reason: String,
}

impl Selection {
    /// Creates a selection of all tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a selection of no tools.
    pub fn none() -> Self {
        Self {
            is_none: true,
            ..Self::default()
        }
    }

    /// Parses globs: `fs.*` includes, `!fs.write` excludes.
    ///
    /// # Errors
    /// Returns [`InvalidSelection`] for the first text that is not a valid glob.
    pub fn parse(texts: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, InvalidSelection> {
        texts.into_iter().try_fold(Self::new(), |selection, text| {
            let text = text.as_ref().trim();
            match text.strip_prefix('!') {
                Some(glob) => selection.with_exclude(glob),
                None => selection.with_include(text),
            }
        })
    }

    /// Adds an include glob. A selected tool matches at least one of them.
    ///
    /// # Errors
    /// Returns [`InvalidSelection`] if the text is not a valid glob.
    pub fn with_include(mut self, glob: &str) -> Result<Self, InvalidSelection> {
        self.include.push(compile(glob)?);
        Ok(self)
    }

    /// Adds an exclude glob, which removes tools from the selection.
    ///
    /// # Errors
    /// Returns [`InvalidSelection`] if the text is not a valid glob.
    pub fn with_exclude(mut self, glob: &str) -> Result<Self, InvalidSelection> {
        self.exclude.push(compile(glob)?);
        Ok(self)
    }

    /// Sets whether only tools with read-only effects are selected.
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Adds tags. A selected tool has at least one of them.
    #[must_use]
    pub fn with_tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Returns true if the tool is selected.
    pub fn matches(&self, entry: &Entry) -> bool {
        let tool = entry.tool();
        let named = |globs: &[ToolGlob]| globs.iter().any(|glob| glob.matches(tool));
        !self.is_none
            && (self.include.is_empty() || named(&self.include))
            // An exclusion wins wherever it stands.
            && !named(&self.exclude)
            && (!self.read_only || tool.effects.is_read_only())
            && (self.tags.is_empty() || tool.tags.iter().any(|tag| self.tags.contains(tag)))
    }

    /// Returns false if no tool whose name begins with this prefix is selected. Returns true if one may be.
    pub fn may_match(&self, prefix: &str) -> bool {
        let mut included = self.include.iter().map(literal_start);
        !self.is_none
            && (self.include.is_empty()
                || included.any(|start| prefix.starts_with(start) || start.starts_with(prefix)))
            && !self.exclude.iter().any(|glob| {
                glob.as_str().strip_suffix('*') == Some(literal_start(glob))
                    && prefix.starts_with(literal_start(glob))
            })
    }

    /// Returns the include and exclude globs that do not match any of these tools. They are usually misspelt.
    pub fn unmatched(&self, entries: &[Arc<Entry>]) -> Vec<String> {
        let matches_nothing =
            |glob: &&ToolGlob| !entries.iter().any(|entry| glob.matches(entry.tool()));
        let all = self.include.iter().chain(&self.exclude);
        all.filter(matches_nothing)
            .map(|glob| glob.as_str().to_owned())
            .collect()
    }
}

/// Formats the rules for people: `fs.* !fs.write, read-only, tagged a or b`, `everything` or `nothing`.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none {
            return f.pad("nothing");
        }
        let include = self.include.iter().map(|glob| glob.as_str().to_owned());
        let exclude = self.exclude.iter();
        let exclude = exclude.map(|glob| format!("!{}", glob.as_str()));
        let globs = join(include.chain(exclude), " ");
        let tags = join(&self.tags, " or ");
        let rules = [
            (!globs.is_empty()).then_some(globs),
            self.read_only.then(|| "read-only".to_owned()),
            (!tags.is_empty()).then(|| format!("tagged {tags}")),
        ];
        let rules = join(rules.into_iter().flatten(), ", ");
        f.pad(if rules.is_empty() {
            "everything"
        } else {
            &rules
        })
    }
}

fn compile(text: &str) -> Result<ToolGlob, InvalidSelection> {
    ToolGlob::compile(text).map_err(|reason| InvalidSelection {
        text: text.to_owned(),
        reason,
    })
}

/// Returns the text before the first special character.
fn literal_start(glob: &ToolGlob) -> &str {
    glob.as_str()
        .split(['*', '?', '[', '{', '\\'])
        .next()
        .unwrap_or_default()
}
