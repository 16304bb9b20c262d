//! The providers that are linked into this process, by name.

use std::collections::BTreeMap;
use std::fmt;

use tools::Source;

use super::error::joined;
use super::{ProviderError, ProviderSubmission};

/// A name that several linked crates claim. None of them can be used until one is unlinked or renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderConflict {
    /// The name.
    pub name: &'static str,
    /// All places that declare it, sorted.
    pub sources: Vec<Source>,
}

/// A linked provider that cannot be used, because its name cannot be written everywhere that providers are named.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderProblem {
    /// The name that was submitted.
    pub name: &'static str,
    /// Where it was declared.
    pub source: Source,
}

/// Returns the linked provider of that name.
///
/// # Errors
/// [`ProviderError::Unknown`] with the names there are, [`ProviderError::Conflict`] with all places.
pub fn get(name: &str) -> Result<&'static ProviderSubmission, ProviderError> {
    let claims = linked().remove(name).filter(|_| is_name(name));
    match claims.as_deref() {
        Some([only]) => Ok(*only),
        Some(claims) => Err(ProviderError::Conflict { name: name.to_owned(), sources: sources(claims) }),
        None => {
            let known = list().iter().map(|submission| submission.name.to_owned()).collect();
            Err(ProviderError::Unknown { name: name.to_owned(), known })
        }
    }
}

/// Returns all linked providers that can be used, sorted by name.
pub fn list() -> Vec<&'static ProviderSubmission> {
    let only = |(name, claims): (&str, Vec<_>)| match claims[..] {
        [only] if is_name(name) => Some(only),
        _ => None,
    };
    linked().into_iter().filter_map(only).collect()
}

/// Returns the names that several linked crates claim, sorted.
pub fn conflicts() -> Vec<ProviderConflict> {
    let claimed = linked().into_iter().filter(|(name, claims)| is_name(name) && claims.len() > 1);
    claimed.map(|(name, claims)| ProviderConflict { name, sources: sources(&claims) }).collect()
}

/// Returns the linked providers that cannot be used, sorted by name.
pub fn problems() -> Vec<ProviderProblem> {
    let nameless = linked().into_iter().filter(|(name, _)| !is_name(name)).flat_map(|(_, claims)| claims);
    nameless.map(|ProviderSubmission { name, source, .. }| ProviderProblem { name, source: source.clone() }).collect()
}

/// Returns all submissions by name, those of one name sorted by source.
fn linked() -> BTreeMap<&'static str, Vec<&'static ProviderSubmission>> {
    let mut by_name: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for submission in inventory::iter::<ProviderSubmission> {
        by_name.entry(submission.name).or_default().push(submission);
    }
    by_name.values_mut().for_each(|claims| claims.sort_by(|a, b| a.source.cmp(&b.source)));
    by_name
}

fn sources(claims: &[&ProviderSubmission]) -> Vec<Source> {
    claims.iter().map(|submission| submission.source.clone()).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

impl fmt::Display for ProviderConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the provider {} is declared by {}", self.name, joined(&self.sources))
    }
}

impl fmt::Display for ProviderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, source } = self;
        write!(f, "{name:?} is no name for a provider; use letters, digits, `-`, `_` and `.` (declared by {source})")
    }
}
