//! Looks up the providers that are linked into this process.

use std::collections::BTreeMap;
use std::fmt;

use tools::Source;

use super::error::joined;
use super::{ProviderError, ProviderSubmission};

/// A provider name that several linked crates claim. The name is unusable until only one of them claims it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderConflict {
    /// The name.
    pub name: &'static str,
    /// The places that declare it, sorted.
    pub sources: Vec<Source>,
}

/// A linked provider that cannot be used because its name has forbidden characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderProblem {
    /// The submitted name.
    pub name: &'static str,
    /// The place that declares it.
    pub source: Source,
}

/// Returns the linked provider of this name.
///
/// # Errors
/// - Returns [`ProviderError::Unknown`], with the known names, if no linked provider has this name.
/// - Returns [`ProviderError::Conflict`], with all places, if several crates claim it.
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

/// Returns the usable linked providers, sorted by name.
pub fn list() -> Vec<&'static ProviderSubmission> {
    let only = |(name, claims): (&str, Vec<_>)| match claims[..] {
        [only] if is_name(name) => Some(only),
        _ => None,
    };
    linked().into_iter().filter_map(only).collect()
}

/// Returns the names claimed by several linked crates, sorted.
pub fn conflicts() -> Vec<ProviderConflict> {
    let claimed = linked().into_iter().filter(|(name, claims)| is_name(name) && claims.len() > 1);
    claimed.map(|(name, claims)| ProviderConflict { name, sources: sources(&claims) }).collect()
}

/// Returns the linked providers with invalid names, sorted by name.
pub fn problems() -> Vec<ProviderProblem> {
    let nameless = linked().into_iter().filter(|(name, _)| !is_name(name)).flat_map(|(_, claims)| claims);
    nameless.map(|ProviderSubmission { name, source, .. }| ProviderProblem { name, source: source.clone() }).collect()
}

/// Returns all submissions by name. Submissions of one name are sorted by source.
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
        write!(f, "{name:?} is not a valid provider name (declared by {source}); use letters, digits, `-`, `_` and `.`")
    }
}
