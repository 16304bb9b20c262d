//! [`GuardedSink`]: an event sink whose panics are caught.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tools::call::Panic;

use crate::event::{Event, EventSink};

/// The optional event sink of a run. After a panic, the state of the sink is unknown, so it receives no further events. The run
/// continues.
pub(super) struct GuardedSink {
    sink: Option<Arc<dyn EventSink>>,
    has_panicked: AtomicBool,
}

impl GuardedSink {
    pub(super) fn new(sink: Option<Arc<dyn EventSink>>) -> Self {
        Self {
            sink,
            has_panicked: AtomicBool::new(false),
        }
    }

    /// Returns true if there is a sink that has not panicked.
    pub(super) fn is_active(&self) -> bool {
        self.sink.is_some() && !self.has_panicked.load(Ordering::Relaxed)
    }

    /// Sends an event, which is built only if the sink is active.
    pub(super) fn send(&self, event: impl FnOnce() -> Event) {
        if let Some(sink) = self.sink.as_ref().filter(|_| self.is_active())
            && Panic::catch(|| sink.send(event())).is_err()
        {
            // The panic hook has reported the panic.
            self.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}
