//! Looks up link-time records by name, such as providers and search backends.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::source::Source;
use crate::submission;

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
/// tools::named_submission!(Codec, "codec");
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {noun} {name} is declared by {}", Source::join(sources))]
#[non_exhaustive]
pub struct NameConflict {
    /// The noun for people.
    pub noun: &'static str,
    /// The name.
    pub name: &'static str,
    /// The places that declare it, sorted.
    pub sources: Vec<Source>,
}

/// A link-time record that cannot be used because its name has forbidden characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusableName {
    /// The noun for people.
    pub noun: &'static str,
    /// The submitted name.
    pub name: &'static str,
    /// The place that declares it.
    pub source: Source,
}

/// The error of a name that no record, or more than one, has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No linked record has this name.
    #[error("there is no {noun} named {name:?}; use one of: {}", list_known(known))]
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
    match by_name.remove_entry(name).filter(|_| is_name(name)) {
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

/// Returns the usable linked records, sorted by name.
pub fn list<T: NamedSubmission>() -> Vec<&'static T> {
    let only = |(name, claims): (&str, Vec<_>)| match claims[..] {
        // Two crates of one name: the order of linking would decide which one runs, so neither does.
        [only] if is_name(name) => Some(only),
        _ => None,
    };
    by_name().into_iter().filter_map(only).collect()
}

/// Returns the names claimed by several linked crates, sorted.
pub fn conflicts<T: NamedSubmission>() -> Vec<NameConflict> {
    let claimed = by_name::<T>()
        .into_iter()
        .filter(|(name, claims)| is_name(name) && claims.len() > 1);
    claimed
        .map(|(name, claims)| conflict(name, &claims))
        .collect()
}

/// Returns the linked records with unusable names, sorted by name.
pub fn problems<T: NamedSubmission>() -> Vec<UnusableName> {
    let unusable = by_name::<T>()
        .into_iter()
        .filter(|(name, _)| !is_name(name))
        .flat_map(|(_, claims)| claims);
    unusable
        .map(|claim| UnusableName {
            noun: T::NOUN,
            name: claim.name(),
            source: claim.source().clone(),
        })
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
        // inventory's order changes with the order of `use` lines in the binary.
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

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn list_known(known: &[&str]) -> String {
    if known.is_empty() {
        "(there are none)".to_owned()
    } else {
        known.join(", ")
    }
}

impl fmt::Display for UnusableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { noun, name, source } = self;
        write!(
            f,
            "{name:?} is not a valid {noun} name (declared by {source}); use letters, digits, `-`, `_` and `.`"
        )
    }
}

/// Makes a type with the fields `name` and `source` a [`NamedSubmission`] with this noun.
#[macro_export]
macro_rules! named_submission {
    ($record:ty, $noun:literal) => {
        impl $crate::linked::NamedSubmission for $record {
            const NOUN: &'static str = $noun;

            fn name(&self) -> &'static str {
                self.name
            }

            fn source(&self) -> &$crate::Source {
                &self.source
            }
        }
    };
}

/// Links crates, so that their tools are registered. Fails to compile if a crate is not a dependency.
///
/// ```ignore
/// tools::link!(tools_builtin, my_tools);
/// ```
///
/// An entry in the manifest alone compiles, and links nothing. Without this line or `use my_tools as _;`, the tools of `my_tools` are
/// missing without a warning; [`expect_linked!`](crate::expect_linked!) finds that.
#[macro_export]
macro_rules! link {
    ($($name:ident),+ $(,)?) => {
        // A dependency that no code names is not linked, without a warning, and its tools are missing.
        $(#[allow(unused_extern_crates)] extern crate $name as _;)+
    };
}

/// Checks at start-up that crates have submitted tools. Takes the names of packages, as in a manifest, or of libraries, as in `use`:
/// `expect_linked!("toolcrib-fs")` and `expect_linked!("tools_fs")` are the same. Returns `Result<(), tools::linked::NotLinked>`.
///
/// ```
/// let missing = tools::expect_linked!("my-tools").unwrap_err();
/// assert!(missing.to_string().contains("my-tools"));
/// ```
#[macro_export]
macro_rules! expect_linked {
    ($($name:expr),+ $(,)?) => {
        $crate::__private::expect_linked(&[$($name),+])
    };
}

/// The error for expected crates that submitted no tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no tool is linked from {}; name each crate in the binary (tools::link!(the_crate) or use the_crate as _), \
     and turn on the feature that brings it in", missing.join(", ")
)]
#[non_exhaustive]
pub struct NotLinked {
    /// The packages or libraries without tools, in the order in which they were passed.
    pub missing: Vec<String>,
}

/// Implements [`expect_linked!`](crate::expect_linked!).
///
/// # Errors
/// Returns [`NotLinked`] if a package or library has no submission in this process.
pub fn expect_linked(names: &[&str]) -> Result<(), NotLinked> {
    // Cargo replaces `-` in the name of a package to make that of its library.
    let library = |name: &str| name.replace('-', "_");
    let submissions = submission::list_linked();
    let names_of =
        |source: &'static Source| [library(&source.crate_name), source.library().to_owned()];
    let linked: BTreeSet<_> = submissions
        .iter()
        .flat_map(|submission| names_of(&submission.source))
        .collect();
    let missing = names.iter().filter(|name| !linked.contains(&library(name)));
    let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(NotLinked { missing })
    }
}
