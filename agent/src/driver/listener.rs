//! [`Listener`]: the sink of one run, whose panics go no further.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tools::call::Panic;

use crate::{Event, EventSink};

/// The sink of a run, if it has one, until that panics. Nobody knows in what state a panic leaves it, so it gets no further events
/// of this run, which goes on.
pub(super) struct Listener {
    sink: Option<Arc<dyn EventSink>>,
    has_panicked: AtomicBool,
}

impl Listener {
    pub(super) fn new(sink: Option<Arc<dyn EventSink>>) -> Self {
        Self { sink, has_panicked: AtomicBool::new(false) }
    }

    /// Returns true if events are sent to somebody.
    pub(super) fn is_listening(&self) -> bool {
        self.sink.is_some() && !self.has_panicked.load(Ordering::Relaxed)
    }

    /// Sends an event, which is made only if somebody listens.
    pub(super) fn tell(&self, event: impl FnOnce() -> Event) {
        if let Some(sink) = self.sink.as_ref().filter(|_| self.is_listening())
            && Panic::catch(|| sink.send(event())).is_err()
        {
            // The panic hook has reported the panic.
            self.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}
