//! What a context knows for the journal: where calls are in a conversation, and which call makes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::ToolContext;
use crate::journal::{CallKey, IntentId, Journal};

/// A call that is written down, for those that it makes.
pub(crate) struct ParentCall {
    pub(crate) origin: CallOrigin,
    pub(crate) key: Option<CallKey>,
    pub(crate) intent: IntentId,
    /// The number of the next call that it makes.
    next: AtomicU32,
}

/// Whose calls they are: what the host said of the outermost one.
#[derive(Clone, Default)]
pub(crate) struct CallOrigin {
    pub(crate) session: Option<Arc<str>>,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) correlation_id: Option<Arc<str>>,
}

impl ParentCall {
    pub(crate) fn new(origin: CallOrigin, key: Option<CallKey>, intent: IntentId) -> Self {
        Self { origin, key, intent, next: AtomicU32::new(0) }
    }

    /// The key of its next call.
    fn next_key(&self) -> Option<CallKey> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.key.as_ref().map(|key| key.nested(number))
    }
}

impl ToolContext {
    /// Has every call written down, so that a conversation can be gone through again without doing anything twice: see
    /// [`journal`](crate::journal). Inside of a call this has no effect: a tool does not choose its journal.
    #[must_use]
    pub fn with_journal(self, journal: Arc<dyn Journal>) -> Self {
        if self.call.is_some() { self } else { self.with(|facts| facts.journal = Some(journal)) }
    }

    /// The journal; `None` inside of a call, since a tool does not write its own record.
    pub fn journal(&self) -> Option<&Arc<dyn Journal>> {
        if self.call.is_some() { None } else { self.recorder() }
    }

    /// The journal, for the counter alone.
    pub(crate) fn recorder(&self) -> Option<&Arc<dyn Journal>> {
        self.facts.journal.as_ref()
    }

    /// The running call, as the journal knows it.
    pub(crate) fn parent_call(&self) -> Option<&Arc<ParentCall>> {
        self.facts.parent_call.as_ref()
    }

    pub(crate) fn with_parent_call(self, parent: ParentCall) -> Self {
        self.with(|facts| facts.parent_call = Some(Arc::new(parent)))
    }

    /// Whose calls are made with this context.
    pub(crate) fn origin(&self) -> CallOrigin {
        match self.parent_call() {
            Some(parent) => parent.origin.clone(),
            None => CallOrigin {
                session: self.facts.session.clone(),
                principal: self.facts.principal.clone(),
                correlation_id: self.facts.correlation_id.clone(),
            },
        }
    }

    /// The key of the next call that is made with this context. To ask is to take a number.
    pub(crate) fn next_key(&self) -> Option<CallKey> {
        match self.parent_call() {
            Some(parent) => parent.next_key(),
            None => {
                let (turn, index) = self.facts.turn?;
                Some(CallKey::new(self.facts.session.clone()?, turn, index))
            }
        }
    }
}
