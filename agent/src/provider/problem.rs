//! [`ProviderProblem`]: what is wrong with a linked provider.

use std::fmt;

use serde::{Serialize, Serializer};
use tools::Source;

use super::RegisterProviderError;

/// A linked provider that cannot be used. Link-time registration has nobody to return an error to, so it is kept here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProviderProblem {
    /// The name that was submitted.
    pub name: String,
    /// Where it was declared.
    pub source: Source,
    /// What is wrong.
    #[serde(serialize_with = "as_text")]
    pub error: RegisterProviderError,
}

impl fmt::Display for ProviderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (declared by {})", self.error, self.source)
    }
}

fn as_text<S: Serializer>(error: &RegisterProviderError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}
