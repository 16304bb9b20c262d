//! [`SharedCatalog`]: a catalog that several owners change.
//!
//! Schemas are compiled before the lock is taken, entries of linked tools built after it is released, watchers woken after
//! that. Nothing of a user runs under the lock. A writer that panics all the same leaves the map whole, because an
//! insertion is its last step: so a poisoned lock is taken over instead of passed on.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use protocol::{Tool, ToolName};

use crate::call::{self, Execution};
use crate::catalog::built;
use crate::slot::Slot;
use crate::sync::{RwLock, RwLockReadGuard};
use crate::{
    Arguments, Catalog, Conflict, Entry, Handler, Problem, RegisterError, Resolve, Scope, Submission, ToolContext,
    ToolError, Subscription,
};

/// A [`Catalog`] behind a lock: clones are the same catalog, and every method takes `&self`. For hosts that want several
/// catalogs in one process, or none that is global.
///
/// The methods do what those of [`Catalog`] do. A tool may change the catalog it is running from. `L` is how the lock is held: the
/// process-wide catalog is one behind a reference.
#[derive(Clone, Debug)]
pub struct SharedCatalog<L = Arc<RwLock<Catalog>>>(pub(crate) L);

impl SharedCatalog {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// A catalog of all tools that are linked into this process.
    pub fn linked() -> Self {
        Catalog::linked().into()
    }
}

impl<L: Deref<Target = RwLock<Catalog>> + Clone + Into<Scope>> SharedCatalog<L> {
    /// Adds a tool.
    ///
    /// # Errors
    /// As [`Catalog::register`].
    #[track_caller]
    pub fn register(&self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        self.insert(Entry::from_caller(tool, handler)?)
    }

    /// Adds a tool with a source of its own.
    ///
    /// # Errors
    /// As [`Catalog::insert`].
    pub fn insert(&self, entry: Entry) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(entry);
        self.change(|catalog| catalog.add(vec![entry.clone()]))?;
        Ok(entry)
    }

    /// Adds a tool, or puts it in the place of the one that holds its name.
    ///
    /// # Errors
    /// As [`Catalog::replace`].
    #[track_caller]
    pub fn replace(&self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(Entry::from_caller(tool, handler)?);
        drop(self.change(|catalog| catalog.put(entry.clone())));
        Ok(entry)
    }

    /// Adds what a crate would contribute by being linked.
    ///
    /// # Errors
    /// As [`Catalog::submit`].
    pub fn submit(&self, submissions: &[&'static Submission]) -> Result<(), RegisterError> {
        let entries = built(submissions)?;
        self.change(|catalog| catalog.add_missing(entries))
    }

    /// Takes a name out; gives whether there was one.
    pub fn unregister(&self, name: &str) -> bool {
        self.change(|catalog| catalog.remove(name)).is_some()
    }

    /// The tool of that name.
    ///
    /// # Errors
    /// As [`Resolve::resolve`].
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }

    /// Whether the name is taken.
    pub fn contains(&self, name: &str) -> bool {
        read(&self.0).contains(name)
    }

    /// All tools that can be called, sorted by name.
    pub fn list(&self) -> Vec<Arc<Entry>> {
        let slots = read(&self.0).slots();
        slots.sorted().iter().filter_map(Slot::entry).collect()
    }

    /// The names that are taken, sorted.
    pub fn names(&self) -> Vec<ToolName> {
        self.snapshot().names()
    }

    /// Checks the arguments of a call without running it.
    ///
    /// # Errors
    /// As [`Catalog::validate`].
    pub fn validate(&self, name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
        call::validate(&*self.get(name)?, arguments.into())
    }

    /// Runs a tool, through every stage of the counter. Tools that it calls in turn are looked up in this catalog as it is
    /// then.
    ///
    /// # Errors
    /// As [`Catalog::execute`].
    pub fn execute(&self, cx: &ToolContext, name: &str, arguments: impl Into<Arguments>) -> Execution {
        call::execute(self.0.clone(), cx, name, arguments)
    }

    /// The names that several linked crates claim, sorted.
    pub fn conflicts(&self) -> Vec<Conflict> {
        read(&self.0).conflicts()
    }

    /// The linked tools that cannot be used.
    pub fn problems(&self) -> Vec<Problem> {
        self.snapshot().problems()
    }

    /// Subscribes to changes.
    pub fn subscribe(&self) -> Subscription {
        read(&self.0).subscribe()
    }

    /// A copy of the catalog as it is now.
    pub fn snapshot(&self) -> Catalog {
        read(&self.0).clone()
    }

    /// Changes the catalog under the lock and wakes the watchers after it. What the change gives is dropped by the caller, without
    /// the lock: a handler's drop is somebody's code, and may itself change the catalog.
    fn change<T>(&self, change: impl FnOnce(&mut Catalog) -> T) -> T {
        let mut catalog = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let outcome = change(&mut catalog);
        let (publisher, generation) = catalog.publication();
        drop(catalog);
        publisher.publish(generation);
        outcome
    }
}

fn read(lock: &RwLock<Catalog>) -> RwLockReadGuard<'_, Catalog> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

impl Default for SharedCatalog {
    fn default() -> Self {
        Catalog::default().into()
    }
}

impl From<Catalog> for SharedCatalog {
    fn from(catalog: Catalog) -> Self {
        Self(Arc::new(RwLock::new(catalog)))
    }
}

impl Resolve for SharedCatalog {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.get(name)
    }
}

impl Resolve for RwLock<Catalog> {
    fn resolve(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        let slot = read(self).slot(name);
        match slot {
            Ok(slot) => slot.resolve(name),
            Err(slots) => Err(slots.not_found(name)),
        }
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_panics_does_not_brick_the_catalog() {
        let catalog = SharedCatalog::new();
        let tool = || protocol::Tool::new("t", "A tool.", serde_json::json!({"type": "object"})).unwrap();
        let entry = |handler| Entry::new(tool(), handler, crate::source!()).unwrap();
        let echo = async |_: crate::ToolContext, arguments: serde_json::Value| Ok::<_, String>(arguments);

        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            catalog.change(|_| panic!("in the middle of a change"));
        }));
        assert!(panicked.is_err() && catalog.0.is_poisoned());

        catalog.insert(entry(echo)).unwrap();
        assert!(catalog.contains("t") && catalog.get("t").is_ok());
        assert_eq!(catalog.subscribe().generation(), 1);
    }
}
