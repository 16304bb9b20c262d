//! [`Found`]: a result of a search, with its reasons.

use protocol::ToolName;

use crate::Field;

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
