//! [`Index`]: definitions that can be searched by words.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use protocol::{Tool, ToolName};

use crate::document::{Document, fingerprint};
use crate::field::Field;
use crate::query::Query;
use crate::rank::Ranking;
use crate::words::{Settings, Words};

/// Definitions that can be searched by words. Immutable; clones are cheap.
///
/// ```
/// use protocol::Tool;
/// use serde_json::json;
/// use tools_search::Index;
///
/// let parameters = json!({"properties": {"path": {"type": "string", "description": "The file to read"}}});
/// let tools = [
///     Tool::new("fs.read", "Reads a file.", parameters)?,
///     Tool::new("getWeather", "Returns the forecast for a place.", json!({}))?,
/// ];
/// let index = Index::new(&tools);
///
/// let found = index.search("what is the weather in Berlin?", 5, |_| true);
/// assert_eq!(found[0].name, "getWeather");
/// assert_eq!(found[0].matches[0].word, "weather");
///
/// // A tool that may not be called is not found.
/// assert!(index.search("read files", 5, |name| *name != "fs.read").is_empty());
/// # Ok::<(), protocol::InvalidName>(())
/// ```
#[derive(Clone)]
pub struct Index {
    /// Sorted by name.
    documents: Arc<[Arc<Document>]>,
    settings: Settings,
    ranking: Ranking,
}

impl Index {
    /// The maximum number of different words of a query that are searched for. Further ones are ignored.
    pub const MAX_QUERY_WORDS: usize = 64;

    /// Builds the index of `tools`.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        Self::with_settings(tools, Settings::ALL, Ranking::TUNED)
    }

    pub(crate) fn with_settings<'a>(
        tools: impl IntoIterator<Item = &'a Tool>,
        settings: Settings,
        ranking: Ranking,
    ) -> Self {
        Self {
            documents: Arc::new([]),
            settings,
            ranking,
        }
        .update(tools)
    }

    /// Builds the index of `tools`. Definitions whose texts are in this index unchanged are not read again.
    #[must_use]
    pub fn update<'a>(&self, tools: impl IntoIterator<Item = &'a Tool>) -> Self {
        let known: HashMap<u64, &Arc<Document>> = self
            .documents
            .iter()
            .map(|document| (document.fingerprint, document))
            .collect();
        let mut words = Words::new(self.settings);
        let document = |tool: &Tool| {
            let fingerprint = fingerprint(tool);
            match known.get(&fingerprint) {
                Some(document) => Arc::clone(document),
                None => Arc::new(Document::new(tool, fingerprint, &mut words)),
            }
        };
        let mut documents: Vec<_> = tools.into_iter().map(document).collect();
        documents.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            documents: documents.into(),
            ..*self
        }
    }

    /// Returns at most `limit` tools that have words of `query`, best first. Equally good ones are sorted by name.
    ///
    /// - `may` is asked about every tool before any is ranked. A tool that it refuses has no influence on the result: neither on the
    ///   order, nor on a score.
    /// - A query is words and nothing else; no character has a meaning. Its first [`MAX_QUERY_WORDS`](Self::MAX_QUERY_WORDS) different
    ///   words in its first 8 KiB are read, without stop words.
    pub fn search(&self, query: &str, limit: usize, may: impl Fn(&ToolName) -> bool) -> Vec<Found> {
        self.search_and_count(query, limit, may).0
    }

    /// Searches as [`search`](Self::search) does. Also returns the number of all tools that have words of `query`.
    pub fn search_and_count(
        &self,
        query: &str,
        limit: usize,
        may: impl Fn(&ToolName) -> bool,
    ) -> (Vec<Found>, usize) {
        let query = Query::new(query, Self::MAX_QUERY_WORDS, self.settings);
        if query.words.is_empty() {
            return (Vec::new(), 0);
        }
        let documents = self.documents.iter().map(|document| &**document);
        let allowed = documents.filter(|document| may(&document.name));
        let (ranked, number) = self.ranking.rank(allowed, &query, limit);
        let found = ranked.into_iter().map(|(score, document)| Found {
            name: document.name.clone(),
            score,
            matches: matches(document, &query),
        });
        (found.collect(), number)
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns true if the index has no tool.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}

/// Returns the words of the query that the document has, in the order of the query.
fn matches(document: &Document, query: &Query) -> Vec<Match> {
    let mut found: Vec<(usize, Match)> = document
        .terms
        .iter()
        .filter_map(|term| {
            let word = query.position(term.stem)?;
            let fields = Field::ALL
                .into_iter()
                .filter(|field| term.counts[*field as usize] > 0)
                .collect();
            let text = query.words[word].text.clone();
            Some((word, Match { word: text, fields }))
        })
        .collect();
    found.sort_by_key(|(word, _)| *word);
    found.into_iter().map(|(_, found)| found).collect()
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The name of the tool.
    pub name: ToolName,
    /// The relevance, above zero. Comparable only within one search.
    pub score: f64,
    /// The words of the query that the definition has, in the order of the query.
    pub matches: Vec<Match>,
}

/// A word of the query, and where the definition has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// The word as the query has it, in lower case.
    pub word: String,
    /// The fields that have the word or another form of it, sorted.
    pub fields: Vec<Field>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_update_reads_only_changed_definitions() {
        let tool = |name: &str, description: &str| Tool::new(name, description, json!({})).unwrap();
        let index = Index::new(&[
            tool("kept", "same"),
            tool("edited", "before"),
            tool("gone", "away"),
        ]);
        let updated = index.update(&[
            tool("added", "new"),
            tool("edited", "after"),
            tool("kept", "same"),
        ]);
        let kept = |index: &Index, name: &str| {
            index
                .documents
                .iter()
                .find(|document| document.name == name)
                .map(Arc::clone)
        };
        let [before, after] = ["kept", "edited"]
            .map(|name| kept(&index, name).zip(kept(&updated, name)).unwrap())
            .map(|(a, b)| Arc::ptr_eq(&a, &b));
        assert!(before);
        assert!(!after);
        assert!(kept(&updated, "gone").is_none());
        assert_eq!(updated.len(), 3);
    }
}
