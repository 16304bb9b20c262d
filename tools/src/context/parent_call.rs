//! The data of a context for the journal: the origin of calls and their parent call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::ToolContext;
use crate::journal::{CallKey, IntentId, Journal};

/// A recorded call, as the parent of its nested calls.
pub(crate) struct ParentCall {
    pub(crate) origin: CallOrigin,
    pub(crate) key: Option<CallKey>,
    pub(crate) intent: IntentId,
    /// The number of its next nested call.
    next: AtomicU32,
}

/// The origin of calls, as the host set it for the outermost one.
#[derive(Clone, Default)]
pub(crate) struct CallOrigin {
    pub(crate) session: Option<Arc<str>>,
    pub(crate) principal: Option<Arc<str>>,
    pub(crate) correlation_id: Option<Arc<str>>,
}

impl ParentCall {
    pub(crate) fn new(origin: CallOrigin, key: Option<CallKey>, intent: IntentId) -> Self {
        Self {
            origin,
            key,
            intent,
            next: AtomicU32::new(0),
        }
    }

    /// Returns the key of its next nested call and advances the number.
    fn next_key(&self) -> Option<CallKey> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.key.as_ref().map(|key| key.nest(number))
    }
}

impl ToolContext {
    /// Returns the journal. Returns `None` inside of a call, so that a tool cannot write to it.
    pub fn journal(&self) -> Option<&Arc<dyn Journal>> {
        if self.call.is_some() {
            None
        } else {
            self.recorder()
        }
    }

    /// Returns true if a journal records the calls with this context. Inside of a call it is that of the outermost call.
    pub fn is_recorded(&self) -> bool {
        self.recorder().is_some()
    }

    /// Returns the journal, for the pipeline only.
    pub(crate) fn recorder(&self) -> Option<&Arc<dyn Journal>> {
        self.facts.journal.as_ref()
    }

    /// Returns the recorded call that is running.
    pub(crate) fn parent_call(&self) -> Option<&Arc<ParentCall>> {
        let call = self.call()?;
        // Before its own intent is recorded, a call makes others as its caller does.
        call.recorded.get().or_else(|| call.caller.parent_call())
    }

    /// Returns the origin of calls with this context.
    pub(crate) fn origin(&self) -> CallOrigin {
        match self.parent_call() {
            // A tool could set another session or principal in its context, and its calls would be recorded as a stranger's.
            Some(parent) => parent.origin.clone(),
            None => CallOrigin {
                session: self.facts.session.clone(),
                principal: self.facts.principal.clone(),
                correlation_id: self.facts.correlation_id.clone(),
            },
        }
    }

    /// Returns the key of the next call with this context. Each call takes a new number.
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
