//! [`Selection`]: rules that choose a session's tools from a catalog.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use tools::protocol::ToolNames;
use tools::{Entry, Tool};

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
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    read_only: bool,
    tags: BTreeSet<String>,
    is_none: bool,
}

/// A text that does not parse as a rule of a [`Selection`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot select tools by {text:?}: {reason}; write a glob such as `fs.*`, or `!fs.*` to exclude tools")]
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
        Self { is_none: true, ..Self::default() }
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
        self.include.push(Pattern::compile(glob)?);
        Ok(self)
    }

    /// Adds an exclude glob, which removes tools from the selection.
    ///
    /// # Errors
    /// Returns [`InvalidSelection`] if the text is not a valid glob.
    pub fn with_exclude(mut self, glob: &str) -> Result<Self, InvalidSelection> {
        self.exclude.push(Pattern::compile(glob)?);
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
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(tool));
        !self.is_none
            && (self.include.is_empty() || named(&self.include))
            && !named(&self.exclude)
            && (!self.read_only || tool.effects.is_read_only())
            && (self.tags.is_empty() || tool.tags.iter().any(|tag| self.tags.contains(tag)))
    }

    /// Returns false if no tool whose name begins with this prefix is selected. Returns true if one may be.
    pub fn may_match(&self, prefix: &str) -> bool {
        let is_left_out = |pattern: &Pattern| {
            pattern.text.strip_suffix('*') == Some(pattern.head()) && prefix.starts_with(pattern.head())
        };
        let may_include = |pattern: &Pattern| prefix.starts_with(pattern.head()) || pattern.head().starts_with(prefix);
        !self.is_none
            && (self.include.is_empty() || self.include.iter().any(may_include))
            && !self.exclude.iter().any(is_left_out)
    }

    /// Returns the include and exclude globs that do not match any of these tools. They are usually misspelt.
    pub fn unmatched(&self, entries: &[Arc<Entry>]) -> Vec<String> {
        let matches_nothing = |pattern: &&Pattern| !entries.iter().any(|entry| pattern.matches(entry.tool()));
        let all = self.include.iter().chain(&self.exclude);
        all.filter(matches_nothing).map(|pattern| pattern.text.clone()).collect()
    }
}

/// Formats the rules for people: `fs.* !fs.write, read-only, tagged a or b`, `everything` or `nothing`.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none {
            return f.pad("nothing");
        }
        let globs: Vec<String> = (self.include.iter().map(|pattern| pattern.text.clone()))
            .chain(self.exclude.iter().map(|pattern| format!("!{}", pattern.text)))
            .collect();
        let mut rules = Vec::new();
        rules.extend((!globs.is_empty()).then(|| globs.join(" ")));
        rules.extend(self.read_only.then(|| "read-only".to_owned()));
        let tags: Vec<_> = self.tags.iter().map(String::as_str).collect();
        rules.extend((!tags.is_empty()).then(|| format!("tagged {}", tags.join(" or "))));
        f.pad(&if rules.is_empty() { "everything".to_owned() } else { rules.join(", ") })
    }
}

/// A compiled glob and its text. Equality compares the texts.
#[derive(Clone)]
struct Pattern {
    text: String,
    glob: GlobMatcher,
}

impl Pattern {
    fn compile(text: &str) -> Result<Self, InvalidSelection> {
        let invalid = |reason: String| InvalidSelection { text: text.to_owned(), reason };
        if text.is_empty() {
            return Err(invalid("it is empty".to_owned()));
        }
        // A tool name is not a path: it has no separators, and escapes are the same on every platform.
        let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
        let glob = glob.map_err(|error| invalid(error.kind().to_string()))?.compile_matcher();
        Ok(Self { text: text.to_owned(), glob })
    }

    /// Returns the text before the first special character.
    fn head(&self) -> &str {
        self.text.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default()
    }

    /// Returns true if the glob matches the name or a former name of the tool.
    fn matches(&self, tool: &Tool) -> bool {
        ToolNames::from(tool).iter().any(|name| self.glob.is_match(name.as_str()))
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}
