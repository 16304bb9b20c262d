//! [`CallPlace`]: where a call is in its conversation.

use std::fmt;
use std::sync::Arc;

use super::order::Ticket;
use super::{CallOrder, DeadlineObserver, ToolContext};
use crate::sync::{Mutex, lock};

/// The place of one call in a conversation, which a driver gives its context.
///
/// ```
/// use tools::ToolContext;
/// use tools::call::CallPlace;
///
/// let cx = ToolContext::new().with_session("monday").with_place(CallPlace::new(1, 0).with_id("call_7"));
/// assert_eq!(cx.call_id(), Some("call_7"));
/// ```
#[derive(Default)]
pub struct CallPlace {
    turn: Option<(u64, u32)>,
    id: Option<Arc<str>>,
    ticket: Option<Ticket>,
    observer: Option<Arc<dyn DeadlineObserver>>,
}

impl CallPlace {
    /// The place of the call `index`, from 0, in the turn `turn`, from 1. In a named session with a
    /// [journal](crate::journal), two calls at one place are one call. [`CallPlace::default`] has no turn.
    pub fn new(turn: u64, index: u32) -> Self {
        Self { turn: Some((turn, index)), ..Self::default() }
    }

    /// Names the call, as the model did.
    #[must_use]
    pub fn with_id(self, id: impl Into<Arc<str>>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Has the call arrive after those that this order was given to before.
    #[must_use]
    pub fn with_order(self, order: &CallOrder) -> Self {
        Self { ticket: Some(order.enqueue()), ..self }
    }

    /// Sets who is notified when the deadline of the call starts running.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn DeadlineObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }
}

impl fmt::Debug for CallPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallPlace").field("turn", &self.turn).field("id", &self.id).finish_non_exhaustive()
    }
}

impl ToolContext {
    /// Sets the place of the next call, in the place of an earlier one. Its order holds for one call: take a context of its own for
    /// each, and drop it once the call is made.
    ///
    /// Inside of a call, turn and observer have no effect: nested calls have their place below the tool that makes them.
    #[must_use]
    pub fn with_place(self, place: CallPlace) -> Self {
        let is_nested = self.call.is_some();
        self.with(|facts| {
            facts.call_id = place.id;
            facts.ticket = place.ticket.map(|ticket| Arc::new(Mutex::new(Some(ticket))));
            if !is_nested {
                facts.turn = place.turn;
                facts.observer = place.observer;
            }
        })
    }

    /// Takes the ticket of the next call, once.
    pub(crate) fn take_ticket(&self) -> Option<Ticket> {
        lock(self.facts.ticket.as_ref()?).take()
    }
}
