//! [`Index`]: definitions that can be searched by words.

use std::sync::Arc;

use protocol::{Tool, ToolName};

use crate::{Field, Found, Match};

/// Definitions that can be searched by words. Immutable; clones are cheap.
#[derive(Clone, Debug)]
pub struct Index(Arc<Vec<(ToolName, String)>>);

impl Index {
    /// Builds the index of `tools`.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let text = |tool: &Tool| format!("{} {}", tool.name, tool.description).to_lowercase();
        Self(Arc::new(tools.into_iter().map(|tool| (tool.name.clone(), text(tool))).collect()))
    }

    /// Builds the index of `tools`, reusing the parts of definitions that are in this index unchanged.
    #[must_use]
    pub fn updated<'a>(&self, tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        Self::new(tools)
    }

    /// Returns at most `limit` tools that have words of `query`, best first.
    ///
    /// `may` is asked before ranking: a tool that it refuses has no influence on the result.
    pub fn search(&self, query: &str, limit: usize, may: impl Fn(&ToolName) -> bool) -> Vec<Found> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let mut found: Vec<Found> = self
            .0
            .iter()
            .filter(|(name, _)| may(name))
            .filter_map(|(name, text)| {
                let matches: Vec<Match> = words
                    .iter()
                    .filter(|word| text.contains(*word))
                    .map(|word| Match { word: (*word).to_owned(), fields: vec![Field::Description] })
                    .collect();
                (!matches.is_empty()).then(|| Found { name: name.clone(), score: matches.len() as f64, matches })
            })
            .collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
        found.truncate(limit);
        found
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if the index has no tool.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
