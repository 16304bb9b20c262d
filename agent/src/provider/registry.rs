//! [`Providers`]: the providers that exist, as a plain value.

use std::any::type_name;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tools::Source;

use super::{
    Provider, ProviderConflict, ProviderEntry, ProviderError, ProviderOptions, ProviderProblem, ProviderSubmission,
    RegisterProviderError,
};

/// Providers by name. Instances are independent of each other and of the process-wide one; a clone is a copy that goes its own
/// way.
///
/// ```
/// use agent::{ProviderOptions, Providers};
///
/// let direct = Providers::linked().get("direct")?.create(&ProviderOptions::new())?;
/// assert_eq!(direct.name(), "direct");
/// # Ok::<(), agent::ProviderError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Providers {
    slots: BTreeMap<String, Slot>,
    /// Submissions without a valid name to be filed under.
    nameless: Vec<ProviderProblem>,
}

#[derive(Clone, Debug)]
pub(super) enum Slot {
    Entry(Arc<ProviderEntry>),
    Conflict(Vec<Source>),
}

impl Providers {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// A registry of all providers that are linked into this process, [`Direct`](super::Direct) and
    /// [`Scripted`](super::Scripted) among them. Names that two crates claim become [`conflicts`](Self::conflicts), what cannot
    /// be named [`problems`](Self::problems).
    pub fn linked() -> Self {
        let mut submissions: Vec<_> = inventory::iter::<ProviderSubmission>.into_iter().collect();
        submissions.sort_by_key(|submission| (submission.name, &submission.source));
        let mut providers = Self::new();
        for same in submissions.chunk_by(|a, b| a.name == b.name) {
            let first = same[0];
            if let Err(error) = check_name(first.name) {
                let problem = |submission: &&ProviderSubmission| ProviderProblem {
                    name: submission.name.to_owned(),
                    source: submission.source.clone(),
                    error: error.clone(),
                };
                providers.nameless.extend(same.iter().map(problem));
                continue;
            }
            let slot = match same {
                [only] => Slot::Entry(Arc::new(ProviderEntry::from(*only))),
                _ => Slot::Conflict(same.iter().map(|submission| submission.source.clone()).collect()),
            };
            providers.slots.insert(first.name.to_owned(), slot);
        }
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
        let entry = built(name, description, Source::of_caller(type_name::<F>()), create)?;
        self.add(vec![entry.clone()])?;
        Ok(entry)
    }

    /// Adds a provider, or puts it in the place of the one that holds its name, conflicts included.
    ///
    /// # Errors
    /// [`RegisterProviderError`], but not for the name's being taken; the registry is then as it was.
    #[track_caller]
    pub fn replace<F>(
        &mut self,
        name: &str,
        description: &str,
        create: F,
    ) -> Result<Arc<ProviderEntry>, RegisterProviderError>
    where
        F: Fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
    {
        let entry = built(name, description, Source::of_caller(type_name::<F>()), create)?;
        drop(self.put(entry.clone()));
        Ok(entry)
    }

    /// Adds what a crate would contribute by being linked, all or nothing. A submission that is there already is passed over.
    ///
    /// # Errors
    /// [`RegisterProviderError`] for the first that cannot be added; the registry is then as it was.
    pub fn submit(&mut self, submissions: &[&ProviderSubmission]) -> Result<(), RegisterProviderError> {
        submissions.iter().try_for_each(|submission| check_name(submission.name))?;
        let mut seen = HashSet::new();
        let mut entries = Vec::new();
        for submission in submissions {
            let held = self.slots.get(submission.name).map(Slot::sources);
            let is_there = held.as_deref() == Some(std::slice::from_ref(&submission.source));
            if !is_there && seen.insert((submission.name, &submission.source)) {
                entries.push(Arc::new(ProviderEntry::from(*submission)));
            }
        }
        self.add(entries)
    }

    /// Takes a name out, whatever holds it. Providers that were made by it go on. Gives whether there was one.
    pub fn unregister(&mut self, name: &str) -> bool {
        self.remove(name).is_some()
    }

    /// The provider of that name.
    ///
    /// # Errors
    /// [`ProviderError::Unknown`] with the names there are, [`ProviderError::Conflict`] with all places.
    pub fn get(&self, name: &str) -> Result<Arc<ProviderEntry>, ProviderError> {
        match self.slots.get(name) {
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
        self.slots.contains_key(name)
    }

    /// All providers that can be used, sorted by name.
    pub fn list(&self) -> Vec<Arc<ProviderEntry>> {
        let entry = |slot: &Slot| match slot {
            Slot::Entry(entry) => Some(entry.clone()),
            Slot::Conflict(_) => None,
        };
        self.slots.values().filter_map(entry).collect()
    }

    /// The names that several linked crates claim, sorted.
    pub fn conflicts(&self) -> Vec<ProviderConflict> {
        let conflict = |(name, slot): (&String, &Slot)| match slot {
            Slot::Entry(_) => None,
            Slot::Conflict(sources) => Some(ProviderConflict { name: name.clone(), sources: sources.clone() }),
        };
        self.slots.iter().filter_map(conflict).collect()
    }

    /// The linked providers that cannot be used, sorted by name.
    pub fn problems(&self) -> Vec<ProviderProblem> {
        self.nameless.clone()
    }

    /// Adds entries, all or nothing.
    pub(super) fn add(&mut self, entries: Vec<Arc<ProviderEntry>>) -> Result<(), RegisterProviderError> {
        for (index, entry) in entries.iter().enumerate() {
            let twin = || entries[..index].iter().find(|other| other.name() == entry.name());
            let held = self.slots.get(entry.name()).map(Slot::sources);
            if let Some(existing) = held.or_else(|| twin().map(|twin| vec![twin.source().clone()])) {
                let (name, refused) = (entry.name().to_owned(), Box::new(entry.source().clone()));
                return Err(RegisterProviderError::Exists { name, existing, refused });
            }
        }
        // Every name was free, so nothing is dropped here.
        entries.into_iter().for_each(|entry| drop(self.put(entry)));
        Ok(())
    }

    /// Puts an entry in and gives what was there.
    #[must_use = "dropping what makes a provider is somebody's code, which may not run under a lock"]
    pub(super) fn put(&mut self, entry: Arc<ProviderEntry>) -> Option<Slot> {
        self.slots.insert(entry.name().to_owned(), Slot::Entry(entry))
    }

    /// Takes a name out and gives what was there.
    #[must_use = "dropping what makes a provider is somebody's code, which may not run under a lock"]
    pub(super) fn remove(&mut self, name: &str) -> Option<Slot> {
        self.slots.remove(name)
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

/// The entry of a provider that is registered at run time.
pub(super) fn built<F>(
    name: &str,
    description: &str,
    source: Source,
    create: F,
) -> Result<Arc<ProviderEntry>, RegisterProviderError>
where
    F: Fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
{
    check_name(name)?;
    Ok(Arc::new(ProviderEntry::new(name, description, source, Box::new(create))))
}

fn check_name(name: &str) -> Result<(), RegisterProviderError> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if is_name { Ok(()) } else { Err(RegisterProviderError::Name { name: name.to_owned() }) }
}
