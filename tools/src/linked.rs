//! Looks up link-time records by name, such as providers and search backends.

use std::collections::BTreeMap;
use std::fmt;

use crate::Source;

pub use crate::link::NotLinked;

/// A link-time record that programs find by its name. Crates register records with `inventory::submit!`.
///
/// ```
/// use tools::{Source, linked, source};
///
/// struct Codec {
///     name: &'static str,
///     source: Source,
/// }
///
/// inventory::collect!(Codec);
///
/// impl linked::NamedSubmission for Codec {
///     const NOUN: &'static str = "codec";
///
///     fn name(&self) -> &'static str {
///         self.name
///     }
///
///     fn source(&self) -> &Source {
///         &self.source
///     }
/// }
///
/// inventory::submit! { Codec { name: "plain", source: source!() } }
///
/// assert_eq!(linked::get::<Codec>("plain")?.name, "plain");
/// let unknown = linked::get::<Codec>("morse").err().unwrap();
/// assert_eq!(unknown.to_string(), "there is no codec named \"morse\"; use one of: plain");
/// # Ok::<(), linked::LookupError>(())
/// ```
pub trait NamedSubmission: inventory::Collect {
    /// The noun for people, such as `provider`.
    const NOUN: &'static str;

    /// Returns the name: letters, digits, `-`, `_` and `.`.
    fn name(&self) -> &'static str;

    /// Returns the place that declares the record.
    fn source(&self) -> &Source;
}

/// A name that several linked crates claim. It is unusable until only one of them claims it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameConflict {
    /// The noun for people.
    pub noun: &'static str,
    /// The name.
    pub name: &'static str,
    /// The places that declare it, sorted.
    pub sources: Vec<Source>,
}

/// The error of a name that no record, or more than one, has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No linked record has this name.
    #[error("there is no {noun} named {name:?}; use one of: {}", listed(known))]
    Unknown {
        /// The noun for people.
        noun: &'static str,
        /// The requested name.
        name: String,
        /// The usable names, sorted.
        known: Vec<&'static str>,
    },
    /// Several linked crates claim the name.
    #[error("{0}; unlink or rename one of them")]
    Conflict(NameConflict),
}

/// Returns the linked record of this name.
///
/// # Errors
/// - Returns [`LookupError::Unknown`], with the known names, if no linked record has this name.
/// - Returns [`LookupError::Conflict`], with all places, if several crates claim it.
pub fn get<T: NamedSubmission>(name: &str) -> Result<&'static T, LookupError> {
    let mut by_name = by_name::<T>();
    match by_name.remove_entry(name) {
        Some((_, claims)) if claims.len() == 1 => Ok(claims[0]),
        Some((name, claims)) => Err(LookupError::Conflict(conflict(name, &claims))),
        None => {
            let known = list::<T>().into_iter().map(T::name).collect();
            Err(LookupError::Unknown {
                noun: T::NOUN,
                name: name.to_owned(),
                known,
            })
        }
    }
}

/// Returns the linked records with a name of their own, sorted by name.
pub fn list<T: NamedSubmission>() -> Vec<&'static T> {
    let claims = by_name().into_values();
    claims
        .filter(|claims| claims.len() == 1)
        .flatten()
        .collect()
}

/// Returns the names claimed by several linked crates, sorted.
pub fn conflicts<T: NamedSubmission>() -> Vec<NameConflict> {
    let claimed = by_name::<T>().into_iter();
    claimed
        .filter(|(_, claims)| claims.len() > 1)
        .map(|(name, claims)| conflict(name, &claims))
        .collect()
}

/// Returns all records by name. Those of one name are sorted by source.
fn by_name<T: NamedSubmission>() -> BTreeMap<&'static str, Vec<&'static T>> {
    let mut by_name: BTreeMap<_, Vec<&'static T>> = BTreeMap::new();
    for submission in inventory::iter::<T> {
        by_name
            .entry(submission.name())
            .or_default()
            .push(submission);
    }
    by_name
        .values_mut()
        .for_each(|claims| claims.sort_by(|a, b| a.source().cmp(b.source())));
    by_name
}

fn conflict<T: NamedSubmission>(name: &'static str, claims: &[&T]) -> NameConflict {
    NameConflict {
        noun: T::NOUN,
        name,
        sources: claims.iter().map(|claim| claim.source().clone()).collect(),
    }
}

fn listed(known: &[&str]) -> String {
    if known.is_empty() {
        "(there are none)".to_owned()
    } else {
        known.join(", ")
    }
}

impl fmt::Display for NameConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the {} {} is declared by {}",
            self.noun,
            self.name,
            Source::listed(&self.sources)
        )
    }
}
