//! [`Providers`]: the providers that exist, as a plain value.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use tools::Source;

use super::error::joined;
use super::{Provider, ProviderEntry, ProviderError, ProviderOptions, ProviderSubmission};

/// Providers by name. Instances are independent of each other and of the process-wide one.
///
/// ```
/// use agent::{ProviderOptions, Providers};
///
/// let direct = Providers::linked().get("direct")?.create(&ProviderOptions::new())?;
/// assert_eq!(direct.name(), "direct");
/// # Ok::<(), agent::ProviderError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Providers(BTreeMap<String, Slot>);

#[derive(Clone, Debug)]
enum Slot {
    Entry(Arc<ProviderEntry>),
    Conflict(Vec<Source>),
}

/// A name that several linked crates claim. None of them wins.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct ProviderConflict {
    /// The name.
    pub name: String,
    /// All places that declare it, sorted.
    pub sources: Vec<Source>,
}

/// Why a provider is not taken into a registry. A refused registration changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterProviderError {
    /// The name cannot be written everywhere that providers are named.
    #[error("{name:?} is no name for a provider; use letters, digits, `-`, `_` and `.`")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The name is taken.
    #[error(
        "the provider {name} exists: it was declared by {} and is declared again by {refused}; \
         register the new one under another name",
        joined(existing)
    )]
    Exists {
        /// The name.
        name: String,
        /// Where the provider that holds the name was declared; several places where they conflict.
        existing: Vec<Source>,
        /// Where the refused one was declared.
        refused: Box<Source>,
    },
}

impl Providers {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// A registry of all providers that are linked into this process, [`Direct`](super::Direct) and
    /// [`Scripted`](super::Scripted) among them.
    pub fn linked() -> Self {
        let mut providers = Self::new();
        providers.submit(inventory::iter::<ProviderSubmission>);
        providers
    }

    /// Adds a provider.
    ///
    /// # Errors
    /// [`RegisterProviderError`]; the registry is then as it was.
    #[track_caller]
    pub fn register<F>(
        &mut self,
        name: &str,
        description: &str,
        create: F,
    ) -> Result<Arc<ProviderEntry>, RegisterProviderError>
    where
        F: Fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
    {
        let refused = source_of_caller::<F>();
        if !is_name(name) {
            return Err(RegisterProviderError::Name { name: name.to_owned() });
        }
        if let Some(slot) = self.0.get(name) {
            let (name, existing) = (name.to_owned(), slot.sources());
            return Err(RegisterProviderError::Exists { name, existing, refused: Box::new(refused) });
        }
        let entry = Arc::new(ProviderEntry::new(name, description, refused, Box::new(create)));
        self.0.insert(name.to_owned(), Slot::Entry(entry.clone()));
        Ok(entry)
    }

    /// Adds what crates contribute by being linked. The same submission, arriving twice, is one; different ones of one name
    /// become a [conflict](Self::conflicts).
    pub fn submit<'a>(&mut self, submissions: impl IntoIterator<Item = &'a ProviderSubmission>) {
        for submission in submissions {
            let entry = || Slot::Entry(Arc::new(ProviderEntry::from(submission)));
            let slot = self.0.entry(submission.name.to_owned()).or_insert_with(entry);
            let mut sources = slot.sources();
            if !sources.contains(&submission.source) {
                sources.push(submission.source.clone());
                sources.sort();
                *slot = Slot::Conflict(sources);
            }
        }
    }

    /// The provider of that name.
    ///
    /// # Errors
    /// [`ProviderError::Unknown`] with the names there are, [`ProviderError::Conflict`] with all places.
    pub fn get(&self, name: &str) -> Result<Arc<ProviderEntry>, ProviderError> {
        match self.0.get(name) {
            Some(Slot::Entry(entry)) => Ok(entry.clone()),
            Some(Slot::Conflict(sources)) => {
                Err(ProviderError::Conflict { name: name.to_owned(), sources: sources.clone() })
            }
            None => {
                let known = self.list().iter().map(|entry| entry.name().to_owned()).collect();
                Err(ProviderError::Unknown { name: name.to_owned(), known })
            }
        }
    }

    /// Whether the name is taken, be it by a conflict.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// All providers that can be used, sorted by name.
    pub fn list(&self) -> Vec<Arc<ProviderEntry>> {
        let entry = |slot: &Slot| match slot {
            Slot::Entry(entry) => Some(entry.clone()),
            Slot::Conflict(_) => None,
        };
        self.0.values().filter_map(entry).collect()
    }

    /// The names that several linked crates claim, sorted.
    pub fn conflicts(&self) -> Vec<ProviderConflict> {
        let conflict = |(name, slot): (&String, &Slot)| match slot {
            Slot::Entry(_) => None,
            Slot::Conflict(sources) => Some(ProviderConflict { name: name.clone(), sources: sources.clone() }),
        };
        self.0.iter().filter_map(conflict).collect()
    }
}

impl Slot {
    fn sources(&self) -> Vec<Source> {
        match self {
            Self::Entry(entry) => vec![entry.source().clone()],
            Self::Conflict(sources) => sources.clone(),
        }
    }
}

impl fmt::Display for ProviderConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the provider {} is declared by {}", self.name, joined(&self.sources))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The caller's place; its crate is read off the type of its closure or function.
#[track_caller]
fn source_of_caller<F>() -> Source {
    let place = Location::caller();
    let path = std::any::type_name::<F>();
    Source::new(path.split("::").next().unwrap_or(path), "", place.file(), place.line())
}
