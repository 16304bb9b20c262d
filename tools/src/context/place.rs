//! [`CallPlace`]: the place of a call in its conversation.

use std::sync::Arc;

use super::order::Ticket;
use super::{CallOrder, DeadlineObserver, NotInherited, PersonClock, ProgressSink, ToolContext};
use crate::sync::{Mutex, lock};

/// The place of one call in a conversation, which a driver sets in the call's context.
///
/// ```
/// use tools::Host;
/// use tools::call::CallPlace;
///
/// let host = Host::new().with_session("monday").with_place(CallPlace::new(1, 0).with_id("call_7"));
/// assert_eq!(host.call_id(), Some("call_7"));
/// ```
///
/// Two calls with the context of one place compile. In a named session with a journal, the second one gets the recorded result of the
/// first:
///
/// ```text
/// let host = host.with_place(CallPlace::new(1, 0)); execute(&host, …); execute(&host, …);                     // wrong
/// execute(&host.clone().with_place(CallPlace::new(1, 0)), …); execute(&host.with_place(CallPlace::new(1, 1)), …); // right
/// ```
#[derive(Default)]
#[must_use]
pub struct CallPlace {
    turn: Option<(u64, u32)>,
    id: Option<Arc<str>>,
    ticket: Option<Ticket>,
    observer: Option<Arc<dyn DeadlineObserver>>,
    person_clock: Option<Arc<PersonClock>>,
    progress: Option<Arc<dyn ProgressSink>>,
    correlation_id: Option<Arc<str>>,
}

impl CallPlace {
    /// Creates the place of call `index` (from 0) in turn `turn` (from 1). [`CallPlace::default`] has no turn.
    ///
    /// In a named session with a [journal](crate::journal), two calls at the same place are the same call.
    pub fn new(turn: u64, index: u32) -> Self {
        Self {
            turn: Some((turn, index)),
            ..Self::default()
        }
    }

    /// Sets the call id from the model.
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds the call to an order, after the calls that were added before.
    pub fn with_order(mut self, order: &CallOrder) -> Self {
        self.ticket = Some(order.enqueue());
        self
    }

    /// Sets the observer that is notified when the call's deadline starts running.
    pub fn with_observer(mut self, observer: Arc<dyn DeadlineObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets the clock that measures how long the call waits for a person.
    pub fn with_person_clock(mut self, clock: Arc<PersonClock>) -> Self {
        self.person_clock = Some(clock);
        self
    }

    /// Sets the receiver of the call's progress reports.
    pub fn with_progress(mut self, sink: Arc<dyn ProgressSink>) -> Self {
        self.progress = Some(sink);
        self
    }

    /// Sets the correlation id, which identifies a request across systems.
    pub fn with_correlation_id(mut self, id: Arc<str>) -> Self {
        self.correlation_id = Some(id);
        self
    }

    /// Sets the place of the next call with a context.
    ///
    /// A [`CallOrder`] applies to one call. Use a separate context for each call and drop it after `execute`.
    ///
    /// Inside of a call, the turn has no effect: nested calls have places below that of their outer call. Observer and person clock
    /// are added to those of the outer calls.
    pub fn enter(self, cx: ToolContext) -> ToolContext {
        let is_nested = cx.call.is_some();
        let depth = cx.depth();
        cx.with(|facts| {
            facts.call_id = self.id;
            facts.ticket = self.ticket.map(|ticket| Arc::new(Mutex::new(Some(ticket))));
            // A tool could otherwise give its calls the place of another call, whose recorded result they would get.
            if !is_nested {
                facts.turn = self.turn;
            }
            facts.observer = NotInherited {
                depth,
                value: self.observer,
            };
            facts.person_clock = self.person_clock;
            facts.progress = self.progress.or(facts.progress.take());
            facts.correlation_id = self.correlation_id.or(facts.correlation_id.take());
        })
    }
}

impl ToolContext {
    /// Takes the ticket of the next call. Returns `None` if there is none or it was taken already.
    pub(crate) fn take_ticket(&self) -> Option<Ticket> {
        lock(self.facts.ticket.as_ref()?).take()
    }
}
