//! [`Selection`]: the rules that pick a session's tools out of a catalog.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use tools::Entry;

/// Which tools of a catalog a session may use. One without any rule selects everything.
///
/// Globs match whole names; a `*` matches dots and slashes too. A tool is selected when an included glob matches it (or
/// none was given), no excluded one does, and it passes the other rules. The order of the rules means nothing.
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
}

/// A text that is not a rule of a [`Selection`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot select tools by {text:?}: {reason}; write a glob such as `fs.*`, or `!fs.*` to leave tools out")]
#[non_exhaustive]
pub struct InvalidSelection {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Selection {
    /// Everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rules in these texts: `fs.*` includes, `!fs.write` excludes.
    ///
    /// # Errors
    /// [`InvalidSelection`] for the first text that is no glob.
    pub fn parse(texts: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, InvalidSelection> {
        texts.into_iter().try_fold(Self::new(), |selection, text| {
            let text = text.as_ref().trim();
            match text.strip_prefix('!') {
                Some(glob) => selection.with_exclude(glob),
                None => selection.with_include(text),
            }
        })
    }

    /// Adds a glob to those of which one has to match.
    ///
    /// # Errors
    /// [`InvalidSelection`] when the text is no glob.
    pub fn with_include(mut self, glob: &str) -> Result<Self, InvalidSelection> {
        self.include.push(Pattern::compile(glob)?);
        Ok(self)
    }

    /// Adds a glob to those of which none may match.
    ///
    /// # Errors
    /// [`InvalidSelection`] when the text is no glob.
    pub fn with_exclude(mut self, glob: &str) -> Result<Self, InvalidSelection> {
        self.exclude.push(Pattern::compile(glob)?);
        Ok(self)
    }

    /// Whether to take only tools that change nothing, by their effects.
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Adds tags to those of which a tool has to bear one.
    #[must_use]
    pub fn with_tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Whether the tool is selected.
    pub fn matches(&self, entry: &Entry) -> bool {
        let tool = entry.tool();
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(&tool.name));
        (self.include.is_empty() || named(&self.include))
            && !named(&self.exclude)
            && (!self.read_only || tool.effects.is_read_only())
            && (self.tags.is_empty() || tool.tags.iter().any(|tag| self.tags.contains(tag)))
    }

    /// The globs, of both kinds, that match no name of these tools: most often misspelt.
    pub fn unmatched(&self, entries: &[Arc<Entry>]) -> Vec<String> {
        let matches_nothing = |pattern: &&Pattern| !entries.iter().any(|entry| pattern.matches(entry.name()));
        let all = self.include.iter().chain(&self.exclude);
        all.filter(matches_nothing).map(|pattern| pattern.text.clone()).collect()
    }
}

/// For people: `fs.* !fs.write, read-only, tagged a or b`, or `everything`.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// A glob with the text it was made of, by which two are equal.
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
        // A name is not a path: nothing in it separates, and no escape depends on the platform.
        let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
        let glob = glob.map_err(|error| invalid(error.kind().to_string()))?.compile_matcher();
        Ok(Self { text: text.to_owned(), glob })
    }

    fn matches(&self, name: &str) -> bool {
        self.glob.is_match(name)
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
