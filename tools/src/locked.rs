//! A catalog behind a lock: what the shared and the process-wide one have in common.
//!
//! Schemas are compiled before the lock is taken, entries of linked tools built after it is released, watchers woken after
//! that. Nothing of a user runs under the lock. A writer that panics all the same leaves the map whole, because an
//! insertion is its last step: so a poisoned lock is taken over instead of passed on.

#[cfg(all(test, shuttle))]
mod shuttle_tests;

use std::sync::{Arc, PoisonError};

use crate::catalog::built;
use crate::slot::Slot;
use crate::sync::{RwLock, RwLockReadGuard};
use crate::{Catalog, Conflict, Entry, Problem, RegisterError, Resolve, Submission, ToolError, Watch};

pub(crate) trait Locked {
    fn add(&self, entry: Entry) -> Result<Arc<Entry>, RegisterError>;
    fn put(&self, entry: Entry) -> Arc<Entry>;
    fn submit(&self, submissions: &[&'static Submission]) -> Result<(), RegisterError>;
    fn unregister(&self, name: &str) -> bool;
    fn contains(&self, name: &str) -> bool;
    fn list(&self) -> Vec<Arc<Entry>>;
    fn conflicts(&self) -> Vec<Conflict>;
    fn problems(&self) -> Vec<Problem>;
    fn subscribe(&self) -> Watch;
    fn snapshot(&self) -> Catalog;
}

impl Locked for RwLock<Catalog> {
    fn add(&self, entry: Entry) -> Result<Arc<Entry>, RegisterError> {
        let entry = Arc::new(entry);
        change(self, |catalog| catalog.add(vec![entry.clone()]))?;
        Ok(entry)
    }

    fn put(&self, entry: Entry) -> Arc<Entry> {
        let entry = Arc::new(entry);
        drop(change(self, |catalog| catalog.put(entry.clone())));
        entry
    }

    fn submit(&self, submissions: &[&'static Submission]) -> Result<(), RegisterError> {
        let entries = built(submissions)?;
        change(self, |catalog| catalog.add_missing(entries))
    }

    fn unregister(&self, name: &str) -> bool {
        change(self, |catalog| catalog.remove(name)).is_some()
    }

    fn contains(&self, name: &str) -> bool {
        read(self).contains(name)
    }

    fn list(&self) -> Vec<Arc<Entry>> {
        let slots = read(self).slots();
        slots.sorted().iter().filter_map(Slot::entry).collect()
    }

    fn conflicts(&self) -> Vec<Conflict> {
        read(self).conflicts()
    }

    fn problems(&self) -> Vec<Problem> {
        self.snapshot().problems()
    }

    fn subscribe(&self) -> Watch {
        read(self).subscribe()
    }

    fn snapshot(&self) -> Catalog {
        read(self).clone()
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

fn read(lock: &RwLock<Catalog>) -> RwLockReadGuard<'_, Catalog> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Changes the catalog under the lock and wakes the watchers after it. What the change gives is dropped by the caller, without
/// the lock: a handler's drop is somebody's code, and may itself change the catalog.
fn change<T>(lock: &RwLock<Catalog>, change: impl FnOnce(&mut Catalog) -> T) -> T {
    let mut catalog = lock.write().unwrap_or_else(PoisonError::into_inner);
    let outcome = change(&mut catalog);
    let (publisher, generation) = catalog.publication();
    drop(catalog);
    publisher.publish(generation);
    outcome
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_writer_that_panics_does_not_brick_the_catalog() {
        let lock = RwLock::new(Catalog::new());
        let tool = || protocol::Tool::new("t", "A tool.", serde_json::json!({"type": "object"})).unwrap();
        let entry = |handler| Entry::new(tool(), handler, crate::source!()).unwrap();
        let echo = async |_: crate::ToolContext, arguments: serde_json::Value| Ok::<_, String>(arguments);

        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            change(&lock, |_| panic!("in the middle of a change"));
        }));
        assert!(panicked.is_err() && lock.is_poisoned());

        lock.add(entry(echo)).unwrap();
        assert!(lock.contains("t") && lock.resolve("t").is_ok());
        assert_eq!(lock.subscribe().generation(), 1);
    }
}
