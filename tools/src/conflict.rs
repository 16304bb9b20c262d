//! [`Conflict`]: a tool name that several linked crates submit.

use std::fmt;

use protocol::ToolName;
use serde::Serialize;

use crate::Source;

/// A tool name that several linked crates submit.
///
/// Calls to it fail until only one crate submits it or [`replace`](crate::Catalog::replace) registers a tool under this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The tool name.
    pub name: ToolName,
    /// The places that declare the name, sorted.
    pub sources: Vec<Source>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is declared by {}",
            self.name,
            Source::listed(&self.sources)
        )
    }
}
