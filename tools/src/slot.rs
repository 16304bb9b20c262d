//! [`Slot`]: a catalog's content under one name.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use protocol::ToolName;

use crate::sync::{OnceLock, thread_local};
use crate::{
    Admission, Conflict, DefinitionError, Entry, Problem, RegisterError, Resolve, Source, Submission, ToolError,
    ToolErrorKind,
};

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
    pub(crate) fn linked(submission: &'static Submission, admission: Arc<Admission>) -> Self {
        Self::Linked(Arc::new(Linked { submission, admission, entry: OnceLock::new() }))
    }

    /// Sets the admission of a linked tool. An entry that is built already keeps its admission.
    pub(crate) fn with_admission(self, admission: &Arc<Admission>) -> Self {
        match self {
            Self::Linked(linked) if linked.entry.get().is_none() => Self::linked(linked.submission, admission.clone()),
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
            Self::Linked(linked) => (linked.submission.name, &linked.submission.source, linked.entry()),
            Self::Conflict(_) => return None,
        };
        let error = entry.and_then(|entry| entry.verify()).err()?;
        Some(Problem { name: name.to_owned(), source: source.clone(), error })
    }

    pub(crate) fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        match self {
            Self::Entry(entry) => Ok(entry.clone()),
            Self::Linked(linked) => linked
                .entry()
                .map_err(|error| ToolError::new(name, ToolErrorKind::Internal { message: error.to_string() })),
            Self::Conflict(conflict) => {
                Err(ToolError::new(name, ToolErrorKind::Conflict { sources: conflict.sources.clone() }))
            }
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
        let build = || self.submission.to_entry().inspect(|entry| entry.set_admission(&self.admission)).map(Arc::new);
        let built = self.entry.get_or_init(build).clone();
        BUILDING.with(|building| building.set(false));
        built
    }
}

/// All slots by name. Names come from code, so foldhash is safe, and SipHash would take half the time of a lookup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(pub(crate) HashMap<ToolName, Slot, foldhash::fast::RandomState>);

impl Slots {
    /// Returns the slots, sorted by name.
    pub(crate) fn sorted(&self) -> Vec<Slot> {
        let mut slots: Vec<_> = self.0.iter().collect();
        slots.sort_unstable_by_key(|(name, _)| *name);
        slots.into_iter().map(|(_, slot)| slot.clone()).collect()
    }

    pub(crate) fn not_found(&self, name: &str) -> ToolError {
        ToolError::not_found(name, self.0.keys().map(ToolName::as_str))
    }
}

impl Resolve for Slots {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.get(name).ok_or_else(|| self.not_found(name))?.resolve(name)
    }
}
