//! [`ScopeSpan`]: the `tracing` span of a call, which a kept context does not keep open.

use std::sync::Arc;

use tracing::Span;

use crate::sync::{Mutex, lock};

/// The span of a call until the call ends. It is empty without a subscriber.
#[derive(Clone, Default)]
pub(crate) struct ScopeSpan(Option<Arc<Mutex<Option<Span>>>>);

impl ScopeSpan {
    pub(crate) fn new(span: Span) -> Self {
        Self(Some(Arc::new(Mutex::new(Some(span)))))
    }

    /// Returns false if no subscriber was there when the call began.
    pub(crate) fn is_traced(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the span. Returns a disabled one after the end of the call.
    pub(crate) fn get(&self) -> Span {
        let span = self.0.as_ref().and_then(|span| lock(span).clone());
        span.unwrap_or_else(Span::none)
    }

    /// Empties all clones. Returns `None` if they were empty.
    pub(crate) fn take(&self) -> Option<Span> {
        self.0.as_ref().and_then(|span| lock(span).take())
    }
}
