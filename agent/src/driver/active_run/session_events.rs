//! [`SessionEvents`]: sends events of work that outlives a run to the run that its session has then.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ActiveRun;
use crate::Event;

/// Sends events of work that outlives a run to the run that its session has then. Clones share the run.
#[derive(Clone, Default)]
pub(crate) struct SessionEvents(Arc<Mutex<Option<Arc<ActiveRun>>>>);

/// The present run of a session, until it is dropped. A dropped run sends no further events.
pub(in crate::driver) struct PresentRun {
    events: SessionEvents,
    active: Arc<ActiveRun>,
}

impl SessionEvents {
    /// Makes a run the receiver of the events.
    pub(in crate::driver) fn attach(&self, active: &Arc<ActiveRun>) -> PresentRun {
        *self.lock() = Some(active.clone());
        PresentRun { events: self.clone(), active: active.clone() }
    }

    /// Sends an event to the present run. Between two runs nothing receives it.
    pub(super) fn send(&self, event: Event) {
        let present = self.lock().clone();
        if let Some(active) = present {
            active.send(|| event);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<ActiveRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PresentRun {
    fn drop(&mut self) {
        self.active.end();
        let mut present = self.events.lock();
        if present.as_ref().is_some_and(|present| Arc::ptr_eq(present, &self.active)) {
            *present = None;
        }
    }
}

impl fmt::Debug for SessionEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEvents").finish_non_exhaustive()
    }
}
