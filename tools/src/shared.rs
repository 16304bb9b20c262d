//! [`SharedCatalog`]: a catalog behind a lock.
//!
//! No foreign code runs under the lock: definitions are checked before it is taken, linked tools are built and subscribers woken after
//! it is released. Inserting into the map is the last step of a change, so a panic leaves the map intact and a poisoned lock is
//! ignored.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::ops::Deref;
use std::sync::Arc;

use protocol::{Tool, ToolName};

use crate::arguments::Arguments;
use crate::call::{self, Execution};
use crate::catalog::slot::Slot;
use crate::catalog::{Catalog, build};
use crate::conflict::{Conflict, Problem};
use crate::context::ToolContext;
use crate::entry::Entry;
use crate::handler::Handler;
use crate::register_error::RegisterError;
use crate::resolve::{Resolve, Scope};
use crate::submission::Submission;
use crate::subscription::Subscription;
use crate::sync::{IgnorePoison as _, RwLock, RwLockReadGuard};
use crate::tool_error::ToolError;

/// A [`Catalog`] behind a lock, with the same methods. Clones share the catalog.
///
/// For hosts with several catalogs in one process, or without a global one. A tool may change the catalog that it runs from. `L` is
/// the pointer to the lock: an `Arc`, or a reference for the process-wide catalog.
#[derive(Clone, Debug)]
pub struct SharedCatalog<L = Arc<RwLock<Catalog>>>(pub(crate) L);

impl SharedCatalog {
    /// Creates an empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a catalog of all tools that are linked into this process.
    pub fn linked() -> Self {
        Catalog::linked().into()
    }
}

impl<L: Deref<Target = RwLock<Catalog>> + Clone + Into<Scope>> SharedCatalog<L> {
    /// Calls [`Catalog::register`] on the catalog behind the lock.
    #[track_caller]
    pub fn register(&self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        self.insert(Entry::from_caller(tool, handler)?)
    }

    /// Calls [`Catalog::insert`] on the catalog behind the lock.
    pub fn insert(&self, entry: Entry) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(entry);
        self.change(|catalog| catalog.add(vec![entry.clone()]))?;
        Ok(entry)
    }

    /// Calls [`Catalog::replace`] on the catalog behind the lock.
    #[track_caller]
    pub fn replace(&self, tool: Tool, handler: impl Handler) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(Entry::from_caller(tool, handler)?);
        drop(self.change(|catalog| catalog.put_checked(entry.clone()))?);
        Ok(entry)
    }

    /// Calls [`Catalog::submit`] on the catalog behind the lock.
    pub fn submit(&self, submissions: &[&'static Submission]) -> Result<(), RegisterError> {
        // Builders are foreign code, and run before the lock is taken.
        let entries = build(submissions)?;
        self.change(|catalog| catalog.add_missing(entries))
    }

    /// Calls [`Catalog::unregister`] on the catalog behind the lock.
    pub fn unregister(&self, name: &str) -> bool {
        self.change(|catalog| catalog.remove(name)).is_some()
    }

    /// Calls [`Catalog::get`] on the catalog behind the lock.
    pub fn get(&self, name: &str) -> Result<Arc<Entry>, ToolError> {
        self.0.resolve(name)
    }

    /// Calls [`Catalog::contains`] on the catalog behind the lock.
    pub fn contains(&self, name: &str) -> bool {
        read(&self.0).contains(name)
    }

    /// Calls [`Catalog::list`] on the catalog behind the lock.
    pub fn list(&self) -> Vec<Arc<Entry>> {
        let slots = read(&self.0).slots.clone();
        slots.in_order().iter().filter_map(Slot::entry).collect()
    }

    /// Calls [`Catalog::names`] on the catalog behind the lock.
    pub fn names(&self) -> Vec<ToolName> {
        self.snapshot().names()
    }

    /// Calls [`Catalog::validate`] on the catalog behind the lock.
    pub fn validate(&self, name: &str, arguments: impl Into<Arguments>) -> Result<(), ToolError> {
        call::validate(&*self.get(name)?, arguments.into(), None).map(drop)
    }

    /// Calls [`Catalog::execute`]. Nested calls are resolved in this catalog at the time they are made.
    pub fn execute(
        &self,
        cx: &ToolContext,
        name: &str,
        arguments: impl Into<Arguments>,
    ) -> Execution {
        call::execute(self.0.clone(), cx, name, arguments)
    }

    /// Calls [`Catalog::conflicts`] on the catalog behind the lock.
    pub fn conflicts(&self) -> Vec<Conflict> {
        read(&self.0).conflicts()
    }

    /// Calls [`Catalog::problems`] on the catalog behind the lock.
    pub fn problems(&self) -> Vec<Problem> {
        self.snapshot().problems()
    }

    /// Calls [`Catalog::subscribe`] on the catalog behind the lock.
    pub fn subscribe(&self) -> Subscription {
        read(&self.0).subscribe()
    }

    /// Returns a copy of the catalog.
    pub fn snapshot(&self) -> Catalog {
        read(&self.0).clone()
    }

    /// Changes the catalog under the lock and wakes the subscribers after releasing it.
    ///
    /// Returns the outcome, so that the caller drops replaced handlers without the lock: dropping one runs foreign code, which may
    /// change the catalog.
    fn change<T>(&self, change: impl FnOnce(&mut Catalog) -> T) -> T {
        let mut catalog = self.0.write().ignore_poison();
        let outcome = change(&mut catalog);
        let publisher = catalog.publisher.clone();
        let generation = catalog.generation;
        drop(catalog);
        publisher.publish(generation);
        outcome
    }
}

fn read(lock: &RwLock<Catalog>) -> RwLockReadGuard<'_, Catalog> {
    lock.read().ignore_poison()
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
            // Similar names are looked for without the lock, which takes long in a large catalog.
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
        let tool =
            || protocol::Tool::new("t", "A tool.", serde_json::json!({"type": "object"})).unwrap();
        let entry = |handler| Entry::new(tool(), handler, crate::source!()).unwrap();
        let echo =
            async |_: crate::ToolContext, arguments: serde_json::Value| Ok::<_, String>(arguments);

        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            catalog.change(|_| panic!("in the middle of a change"));
        }));
        assert!(panicked.is_err() && catalog.0.is_poisoned());

        catalog.insert(entry(echo)).unwrap();
        assert!(catalog.contains("t") && catalog.get("t").is_ok());
        assert_eq!(catalog.subscribe().generation(), 1);
    }
}
