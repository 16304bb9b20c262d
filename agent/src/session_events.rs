//! [`SessionEvents`]: sends events of work that outlives a run to the run that its session has then.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use tools::IgnorePoison as _;

use crate::{Event, EventSink};

/// Sends events of work that outlives a run to the run that its session has then. Clones share the run.
#[derive(Clone, Default)]
pub(crate) struct SessionEvents(Arc<Mutex<Option<Arc<dyn EventSink>>>>);

impl SessionEvents {
    /// Makes a run the receiver of the events.
    pub(crate) fn attach(&self, run: Arc<dyn EventSink>) {
        *self.lock() = Some(run);
    }

    /// Sends an event to the present run. Between two runs nothing receives it.
    pub(crate) fn send(&self, event: Event) {
        let present = self.lock().clone();
        if let Some(run) = present {
            run.send(event);
        }
    }

    /// Removes a run, unless another one has taken its place.
    pub(crate) fn detach(&self, run: &Arc<dyn EventSink>) {
        let mut present = self.lock();
        if present
            .as_ref()
            .is_some_and(|present| Arc::ptr_eq(present, run))
        {
            *present = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<dyn EventSink>>> {
        self.0.lock().ignore_poison()
    }
}

impl fmt::Debug for SessionEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionEvents").finish_non_exhaustive()
    }
}
