//! [`RunObserver`]: the receiver of the events of the runs that a program makes for a command.

use std::fmt;
use std::sync::{Arc, Mutex};

use tools::IgnorePoison as _;

use crate::event::EventSink;
use crate::run_handle::RunHandle;

/// The receiver of the events of a session's runs, and the handle of the next one. A command gives this service to the sessions that its
/// program opens for it.
pub struct RunObserver {
    events: Arc<dyn EventSink>,
    handle: Mutex<RunHandle>,
}

impl RunObserver {
    /// Creates an observer that sends the events of all runs to a sink.
    pub fn new(events: Arc<dyn EventSink>) -> Self {
        Self {
            events,
            handle: Mutex::default(),
        }
    }

    /// Returns the receiver of the events.
    pub fn events(&self) -> Arc<dyn EventSink> {
        self.events.clone()
    }

    /// Returns the handle of the next run.
    pub fn handle(&self) -> RunHandle {
        self.handle.lock().ignore_poison().clone()
    }

    /// Sets the handle of the next run.
    pub fn set_handle(&self, handle: RunHandle) {
        *self.handle.lock().ignore_poison() = handle;
    }
}

impl fmt::Debug for RunObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunObserver").finish_non_exhaustive()
    }
}
