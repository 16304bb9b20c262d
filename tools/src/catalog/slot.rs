//! [`Slot`]: a catalog's content under one name.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use protocol::{ToolName, ToolNames};

use crate::admission::Admission;
use crate::conflict::{Conflict, Problem};
use crate::entry::Entry;
use crate::register_error::{DefinitionError, RegisterError};
use crate::resolve::Resolve;
use crate::source::Source;
use crate::submission::Submission;
use crate::sync::{OnceLock, thread_local};
use crate::tool_error::{ToolError, ToolErrorKind};

/// A catalog's content under one name. Cheap to clone, so that slow work is done outside of the catalog's lock.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// A registered tool.
    Entry(Arc<Entry>),
    /// A linked tool, whose entry is built on first use.
    Linked(Arc<Linked>),
    /// Several linked tools with this name.
    Conflict(Arc<Conflict>),
}

#[derive(Debug)]
pub(crate) struct Linked {
    submission: &'static Submission,
    admission: Arc<Admission>,
    entry: OnceLock<Result<Arc<Entry>, RegisterError>>,
}

impl Slot {
    /// Creates the slot of a linked tool. A refused one cannot be used.
    pub(crate) fn linked(
        submission: &'static Submission,
        admission: Arc<Admission>,
        refusal: Option<RegisterError>,
    ) -> Self {
        let entry = OnceLock::new();
        if let Some(error) = refusal {
            entry.get_or_init(|| Err(error));
        }
        Self::Linked(Arc::new(Linked {
            submission,
            admission,
            entry,
        }))
    }

    /// Sets the admission of a linked tool. An entry that is built already keeps its admission.
    pub(crate) fn with_admission(self, admission: &Arc<Admission>) -> Self {
        match self {
            // Its calls may run already, and two admissions of one entry would not know of each other's.
            Self::Linked(linked) if linked.entry.get().is_none() => {
                Self::linked(linked.submission, admission.clone(), None)
            }
            other => other,
        }
    }

    /// Returns the place of the declaration, or several places for a conflict.
    pub(crate) fn sources(&self) -> Vec<Source> {
        match self {
            Self::Entry(entry) => vec![entry.source().clone()],
            Self::Linked(linked) => vec![linked.submission.source.clone()],
            Self::Conflict(conflict) => conflict.sources.clone(),
        }
    }

    /// Builds the entry if necessary and returns it. Returns `None` for a conflict and for a linked tool that cannot be built.
    pub(crate) fn entry(&self) -> Option<Arc<Entry>> {
        match self {
            Self::Entry(entry) => Some(entry.clone()),
            Self::Linked(linked) => linked.entry().ok(),
            Self::Conflict(_) => None,
        }
    }

    pub(crate) fn conflict(&self) -> Option<Conflict> {
        match self {
            Self::Conflict(conflict) => Some(Conflict::clone(conflict)),
            _ => None,
        }
    }

    /// Returns the first fault of the tool, schemas and examples included. Returns `None` if there is no fault, and for a conflict.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let (name, source, entry) = match self {
            Self::Entry(entry) => (entry.name().as_str(), entry.source(), Ok(entry.clone())),
            Self::Linked(linked) => (
                linked.submission.name,
                &linked.submission.source,
                linked.entry(),
            ),
            Self::Conflict(_) => return None,
        };
        let error = entry.and_then(|entry| entry.verify()).err()?;
        Some(Problem {
            name: name.to_owned(),
            source: source.clone(),
            error,
        })
    }

    pub(crate) fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        match self {
            Self::Entry(entry) => Ok(entry.clone()),
            Self::Linked(linked) => linked
                .entry()
                .map_err(|error| ToolError::new(name, ToolErrorKind::internal(error))),
            Self::Conflict(conflict) => Err(ToolError::new(
                name,
                ToolErrorKind::Conflict {
                    sources: conflict.sources.clone(),
                },
            )),
        }
    }
}

thread_local! {
    /// True while a definition is built on this thread.
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

impl Linked {
    fn entry(&self) -> Result<Arc<Entry>, RegisterError> {
        if let Some(built) = self.entry.get() {
            return built.clone();
        }
        // A builder is foreign code. If it resolved a tool that is being built, here or on a thread that waits for this one, it would
        // deadlock.
        if BUILDING.with(Cell::get) {
            return Err(RegisterError::Definition {
                name: self.submission.name.to_owned(),
                place: Box::new(self.submission.source.clone()),
                source: DefinitionError::Circular,
            });
        }
        BUILDING.with(|building| building.set(true));
        // `to_entry` catches panics of the builder, so the flag is always reset.
        let built = self.entry.get_or_init(|| {
            self.submission
                .to_entry()
                .inspect(|entry| entry.set_admission(&self.admission))
                .map(Arc::new)
        });
        let built = built.clone();
        BUILDING.with(|building| building.set(false));
        built
    }
}

/// A map by tool name. Names come from code, so foldhash is safe, and SipHash would take half the time of a lookup.
type ByName<T> = HashMap<ToolName, T, foldhash::fast::RandomState>;

/// All slots by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    slots: ByName<Slot>,
    /// The present names of tools by their former names. None of the former names has a slot.
    renamed: ByName<ToolName>,
}

impl Slots {
    /// Creates the slots of these submissions, sorted by name, which have valid names.
    ///
    /// A present name that several submissions have is a conflict. A tool that claims a name of another tool as a former name cannot be
    /// used: rules about the other tool would also be about it.
    pub(crate) fn linked(
        submissions: &[(ToolName, &'static Submission)],
        admission: &Arc<Admission>,
    ) -> Self {
        let mut present: BTreeMap<&ToolName, Vec<&'static Submission>> = BTreeMap::new();
        let mut former: BTreeMap<ToolName, BTreeSet<&ToolName>> = BTreeMap::new();
        for (name, submission) in submissions {
            present.entry(name).or_default().push(submission);
            for was in former_names(submission) {
                former.entry(was).or_default().insert(name);
            }
        }
        let refusal = |name: &ToolName, submission: &Submission| {
            former_names(submission).find_map(|was| {
                let claimants = former[&was].iter().copied().filter(|other| *other != name);
                let holders = present
                    .get_key_value(&was)
                    .map(|(present, _)| *present)
                    .into_iter()
                    .chain(claimants);
                let existing: Vec<_> = holders
                    .flat_map(|name| &present[name])
                    .map(|it| it.source.clone())
                    .collect();
                (!existing.is_empty()).then(|| RegisterError::FormerName {
                    name: name.clone(),
                    was,
                    existing,
                })
            })
        };
        let mut slots = Self::default();
        for (name, holders) in &present {
            let slot = match &holders[..] {
                [only] => Slot::linked(only, admission.clone(), refusal(name, only)),
                several => {
                    let mut sources: Vec<_> =
                        several.iter().map(|holder| holder.source.clone()).collect();
                    sources.sort();
                    Slot::Conflict(Arc::new(Conflict {
                        name: (*name).clone(),
                        sources,
                    }))
                }
            };
            slots.slots.insert((*name).clone(), slot);
        }
        for (was, claimants) in &former {
            if let ([only], false) = (&Vec::from_iter(claimants)[..], present.contains_key(was)) {
                slots.renamed.insert(was.clone(), (**only).clone());
            }
        }
        slots
    }

    /// Returns the places that declare a name here, or else in one of the entries. Returns `None` if the name is free.
    pub(crate) fn holders(&self, name: &ToolName, entries: &[Arc<Entry>]) -> Option<Vec<Source>> {
        self.get(name).map(Slot::sources).or_else(|| {
            entries
                .iter()
                .find(|entry: &&Arc<Entry>| {
                    ToolNames::from(entry.tool())
                        .iter()
                        .any(|held| held == name)
                })
                .map(|twin| vec![twin.source().clone()])
        })
    }

    /// Checks that the former names of an entry are free here and in the entries.
    pub(crate) fn check_former(
        &self,
        entry: &Entry,
        entries: &[Arc<Entry>],
    ) -> Result<(), RegisterError> {
        for was in &entry.tool().was {
            let own = (was == entry.name()).then(|| vec![entry.source().clone()]);
            // The replaced tool may have had the same former name.
            let is_inherited = self.present(was) == Some(entry.name());
            if let Some(existing) =
                own.or_else(|| self.holders(was, entries).filter(|_| !is_inherited))
            {
                return Err(RegisterError::FormerName {
                    name: entry.name().clone(),
                    was: was.clone(),
                    existing,
                });
            }
        }
        Ok(())
    }

    /// Returns the present name of the tool or the conflict that holds a name.
    pub(crate) fn present(&self, name: &str) -> Option<&ToolName> {
        let (present, _) = self
            .slots
            .get_key_value(name)
            .or_else(|| self.slots.get_key_value(self.renamed.get(name)?))?;
        Some(present)
    }

    /// Returns the slot of a present or former name.
    pub(crate) fn get(&self, name: &str) -> Option<&Slot> {
        self.slots
            .get(name)
            .or_else(|| self.slots.get(self.renamed.get(name)?))
    }

    /// Inserts an entry and returns the replaced slot. No other tool may hold a name of the entry.
    pub(crate) fn put(&mut self, entry: Arc<Entry>) -> Option<Slot> {
        let replaced = self.remove(entry.name());
        self.renamed.extend(
            entry
                .tool()
                .was
                .iter()
                .map(|was| (was.clone(), entry.name().clone())),
        );
        self.slots.insert(entry.name().clone(), Slot::Entry(entry));
        replaced
    }

    /// Removes a present name and its former names, and returns its slot.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Slot> {
        let removed = self.slots.remove(name)?;
        self.renamed.retain(|_, present| present.as_str() != name);
        Some(removed)
    }

    /// Returns the present names, in any order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &ToolName> {
        self.slots.keys()
    }

    /// Returns the slots, in any order.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.values_mut()
    }

    /// Returns the slots, sorted by name.
    pub(crate) fn in_order(&self) -> Vec<Slot> {
        let mut slots: Vec<_> = self.slots.iter().collect();
        slots.sort_unstable_by_key(|(name, _)| *name);
        slots.into_iter().map(|(_, slot)| slot.clone()).collect()
    }

    pub(crate) fn not_found(&self, name: &str) -> ToolError {
        // A misspelt former name leads to the present one, which the model can call.
        let present = self.names().map(|name| (name.as_str(), name.as_str()));
        let former = self
            .renamed
            .iter()
            .map(|(former, present)| (former.as_str(), present.as_str()));
        ToolError::not_found(name, present.chain(former))
    }
}

/// Returns the valid former names. An invalid one is an error of the definition.
fn former_names(submission: &Submission) -> impl Iterator<Item = ToolName> {
    let names = submission.was.iter();
    names.filter_map(|was| ToolName::new(was).ok())
}

impl Resolve for Slots {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.get(name)
            .ok_or_else(|| self.not_found(name))?
            .resolve(name)
    }
}
