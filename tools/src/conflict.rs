//! [`Conflict`]: a tool name that several linked crates submit.

use protocol::ToolName;
use serde::Serialize;

use crate::register_error::RegisterError;
use crate::source::Source;

/// A tool name that several linked crates submit.
///
/// Calls to it fail until only one crate submits it or [`replace`](crate::Catalog::replace) registers a tool under this name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{name} is declared by {}", Source::join(sources))]
pub struct Conflict {
    /// The tool name.
    pub name: ToolName,
    /// The places that declare the name, sorted.
    pub sources: Vec<Source>,
}

/// A tool in the catalog that cannot be used or has an invalid example.
///
/// [`problems`](crate::Catalog::problems) finds faults that registration does not report: link-time registration has no caller
/// to return an error to, and no registration compiles schemas or validates examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// The submitted name, which may be invalid.
    pub name: String,
    /// The place of the declaration.
    pub source: Source,
    /// The fault.
    #[serde(serialize_with = "as_text")]
    pub error: RegisterError,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}: {}", self.name, self.source, self.error)
    }
}

fn as_text<S: serde::Serializer>(error: &RegisterError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}
