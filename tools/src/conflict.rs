//! [`Conflict`]: two linked crates that claim one name.

use std::fmt;

use protocol::ToolName;
use serde::Serialize;

use crate::Source;

/// A name that several linked crates declare. None of them wins, and none can be called until one is unlinked or
/// renamed, or [`replace`](crate::Catalog::replace) settles the matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The name.
    pub name: ToolName,
    /// All places that declare it, sorted.
    pub sources: Vec<Source>,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is declared by {}", self.name, Source::listed(&self.sources))
    }
}
