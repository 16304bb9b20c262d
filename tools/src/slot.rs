//! What a catalog holds under one name.

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

/// One name's holder. Cheap to clone, so that what takes time can be done outside a catalog's lock.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    /// A tool that was registered.
    Entry(Arc<Entry>),
    /// A tool that was linked; its entry is built when it is first looked at.
    Linked(Arc<Linked>),
    /// Several linked tools that claim the name.
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

    /// The same holder, to be admitted by something else. What is an entry already stays as it is.
    pub(crate) fn with_admission(self, admission: &Arc<Admission>) -> Self {
        match self {
            Self::Linked(linked) if linked.entry.get().is_none() => Self::linked(linked.submission, admission.clone()),
            other => other,
        }
    }

    /// Where the holder was declared; several places for a conflict.
    pub(crate) fn sources(&self) -> Vec<Source> {
        match self {
            Self::Entry(entry) => vec![entry.source().clone()],
            Self::Linked(linked) => vec![linked.submission.source.clone()],
            Self::Conflict(conflict) => conflict.sources.clone(),
        }
    }

    /// The entry, built if need be; `None` for a conflict and for a linked tool that cannot be built.
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

    /// The first thing that is wrong with the tool, schemas and examples included; `None` for a conflict.
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
    /// Whether a definition is being built on this thread.
    static BUILDING: Cell<bool> = const { Cell::new(false) };
}

impl Linked {
    fn entry(&self) -> Result<Arc<Entry>, RegisterError> {
        if let Some(built) = self.entry.get() {
            return built.clone();
        }
        // A builder is somebody's code. One that looks up what is being built, here or on a thread that waits for this one, would
        // wait for itself.
        if BUILDING.with(Cell::get) {
            return Err(RegisterError::Definition {
                name: self.submission.name.to_owned(),
                place: Box::new(self.submission.source.clone()),
                source: DefinitionError::Circular,
            });
        }
        BUILDING.with(|building| building.set(true));
        // Panics of the builder end inside of it, so the mark is always taken back.
        let build = || self.submission.to_entry().inspect(|entry| entry.set_admission(&self.admission)).map(Arc::new);
        let built = self.entry.get_or_init(build).clone();
        BUILDING.with(|building| building.set(false));
        built
    }
}

/// All names. Names are hashed with foldhash: they come from code, and SipHash is half the price of a lookup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(pub(crate) HashMap<ToolName, Slot, foldhash::fast::RandomState>);

impl Slots {
    /// The slots in the order of their names.
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
