//! [`Problem`]: what is wrong with a tool that is in the catalog all the same.

use serde::Serialize;

use crate::{RegisterError, Source};

/// A tool that cannot be used or has a wrong example. Link-time registration has nobody to return an error to, and no registration
/// compiles schemas or validates examples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// The name that was submitted, valid or not.
    pub name: String,
    /// Where it was declared.
    pub source: Source,
    /// What is wrong.
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
