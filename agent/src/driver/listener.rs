//! [`Listener`]: the sink of one run, whose panics go no further.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tools::call::guarded;

use crate::{Event, EventSink};

/// A sink, until it panics. Nobody knows in what state that leaves it, so it hears no more of this run, which goes on.
pub(super) struct Listener {
    sink: Arc<dyn EventSink>,
    has_panicked: AtomicBool,
}

impl Listener {
    pub(super) fn new(sink: Arc<dyn EventSink>) -> Self {
        Self { sink, has_panicked: AtomicBool::new(false) }
    }

    pub(super) fn tell(&self, event: Event) {
        // The panic hook has reported the panic.
        if !self.has_panicked.load(Ordering::Relaxed) && guarded(|| self.sink.send(event)).is_err() {
            self.has_panicked.store(true, Ordering::Relaxed);
        }
    }
}
