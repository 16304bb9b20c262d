//! [`CallDeadline`]: the deadline of a running call, which excludes the time that the call waits for a person.

use std::iter::successors;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::ToolContext;
use super::person_clock::{PersonClock, PersonWait};
use super::scope::{CallScope, FOREVER};
use crate::isolate::Panic;
use crate::sync::{Mutex, OnceLock, lock};

/// The deadline of a running call. The attempts of a call share it.
pub(crate) struct CallDeadline {
    initial: Instant,
    /// Created by the first question, because most calls ask none.
    moved: OnceLock<Arc<Mutex<MovedDeadline>>>,
}

/// The deadline of a call that has asked a question.
struct MovedDeadline {
    /// While a question is open: the latest end of the question, plus `left`.
    at: Instant,
    /// The time that was left when the first open question was asked.
    left: Duration,
    open_questions: u32,
    /// The task that waits for the deadline.
    waker: Option<Waker>,
}

/// A wait for a person. Until it is dropped, the clocks of a call and its outer calls are stopped and their [`PersonClock`]s run.
pub(crate) struct StoppedClocks {
    /// `None` outside of a call.
    call: Option<Arc<CallScope>>,
    _waits: Vec<PersonWait>,
}

impl CallDeadline {
    pub(super) fn new(initial: Instant) -> Self {
        Self {
            initial,
            moved: OnceLock::new(),
        }
    }

    /// Returns the deadline.
    pub(crate) fn at(&self) -> Instant {
        self.moved
            .get()
            .map_or(self.initial, |moved| lock(moved).at)
    }

    /// Returns the deadline. If it moves closer afterwards, the task is woken.
    pub(crate) fn watch(&self, task: &Context<'_>) -> Instant {
        let Some(moved) = self.moved.get() else {
            return self.initial;
        };
        let mut moved = lock(moved);
        moved.waker = Some(task.waker().clone());
        moved.at
    }

    /// Returns the same deadline, for another attempt.
    pub(super) fn share(&self) -> Self {
        let moved = OnceLock::new();
        moved.get_or_init(|| self.moved_deadline().clone());
        Self {
            initial: self.initial,
            moved,
        }
    }

    /// Moves the deadline to `at`, unless it is later already.
    fn prolong(&self, at: Instant) {
        let mut moved = lock(self.moved_deadline());
        if moved.open_questions > 0 {
            moved.left = moved.left.max(at.saturating_duration_since(Instant::now()));
        } else {
            moved.at = moved.at.max(at);
        }
    }

    fn moved_deadline(&self) -> &Arc<Mutex<MovedDeadline>> {
        let new = || MovedDeadline {
            at: self.initial,
            left: Duration::ZERO,
            open_questions: 0,
            waker: None,
        };
        self.moved.get_or_init(|| Arc::new(Mutex::new(new())))
    }

    /// Stops the clock for a question that ends at `until`. The deadline never moves beyond `latest`.
    fn stop(&self, until: Instant, latest: Option<Instant>) {
        let mut moved = lock(self.moved_deadline());
        if moved.open_questions == 0 {
            // Only the first of several open questions stops the clock; the others find it stopped.
            moved.left = moved.at.saturating_duration_since(Instant::now());
        }
        moved.open_questions += 1;
        let at = until.checked_add(moved.left).unwrap_or(until);
        moved.at = latest.map_or(at, |latest| at.min(latest)).max(moved.at);
    }

    /// Starts the clock again, if no other question is open.
    fn restart(&self) {
        let mut moved = lock(self.moved_deadline());
        moved.open_questions -= 1;
        if moved.open_questions > 0 {
            return;
        }
        moved.at = Instant::now()
            .checked_add(moved.left)
            // The deadline was set as if the question took its whole time, so an answer only moves it closer.
            .map_or(moved.at, |at| at.min(moved.at));
        let waker = moved.waker.take();
        // The waker runs foreign code, which may ask for this deadline.
        drop(moved);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl CallScope {
    /// Returns the host's deadline, which holds for questions too.
    fn latest(&self) -> Option<Instant> {
        let calls = successors(Some(self), |call| call.caller.call().map(Arc::as_ref));
        calls
            .filter_map(|call| call.caller.facts.deadline)
            .min()
            .map(Instant::from_std)
    }
}

impl ToolContext {
    /// Returns the time by which an approval or a question that is asked now must be answered, and the time until then: the
    /// approval timeout, or less if the host's deadline is earlier.
    pub(crate) fn answer_by(&self) -> (Instant, Duration) {
        let now = Instant::now();
        let limit = self.approval_timeout();
        let by = now.checked_add(limit).unwrap_or_else(|| now + FOREVER);
        let host = self.facts.deadline.map(Instant::from_std);
        let by = host
            .into_iter()
            .chain(self.call().and_then(|call| call.latest()))
            .fold(by, Instant::min);
        (by, by.saturating_duration_since(now))
    }

    /// Gives the running call its whole time limit again, because the tool reports progress. The call ends at the latest after `longest`,
    /// or after twice its limit if that is longer. A limit or a deadline that the host sets stays.
    pub fn renew_deadline(&self, longest: Duration) {
        let Some(call) = self
            .call()
            // A limit of the host holds whatever a tool says about its progress.
            .filter(|call| call.caller.facts.timeout.is_none())
        else {
            return;
        };
        let limit = call.limit;
        let last = call
            .deadline
            .initial
            .checked_add(longest.saturating_sub(limit).max(limit));
        let at = Instant::now().checked_add(limit);
        if let Some(at) = at.into_iter().chain(last).chain(call.latest()).min() {
            call.deadline.prolong(at);
        }
    }

    /// Stops the clocks of the running call and its outer calls and starts their [`PersonClock`]s, for an approval or a question that
    /// ends at `until`.
    pub(crate) fn stop_clocks(&self, until: Instant) -> StoppedClocks {
        let call = self.call().cloned();
        call.iter()
            .for_each(|call| each_call(call, |call| call.deadline.stop(until, call.latest())));
        let outer = successors(call.as_deref(), |call| call.caller.call().map(Arc::as_ref));
        let clocks = outer.map(|call| &call.caller.facts.person_clock);
        let mut clocks: Vec<_> = [&self.facts.person_clock]
            .into_iter()
            .chain(clocks)
            .flatten()
            .collect();
        // A call has the clock of its outer call, unless a driver made it.
        clocks.dedup_by(|one, other| Arc::ptr_eq(one, other));
        StoppedClocks {
            _waits: clocks.into_iter().map(PersonClock::start).collect(),
            call,
        }
    }

    /// Notifies the observer that the deadline of this call runs.
    pub(crate) fn notify_observer(&self) {
        if let Some(call) = &self.call
            && let Some(observer) = call.caller.observer()
        {
            // A panic of the observer does not stop the call, and the panic hook has reported it.
            let _ = Panic::catch(|| observer.on_start(self, call.limit));
        }
    }

    /// Returns the observer of the calls that are made with this context, not one of an outer call.
    pub(super) fn observer(&self) -> Option<&Arc<dyn DeadlineObserver>> {
        self.facts
            .observer
            .value
            .as_ref()
            // Nested calls inherit the facts, but each driver observes its own calls.
            .filter(|_| self.facts.observer.depth == self.depth())
    }
}

impl Drop for StoppedClocks {
    fn drop(&mut self) {
        self.call
            .iter()
            .for_each(|call| each_call(call, |call| call.deadline.restart()));
    }
}

/// Changes the deadline of a call and its outer calls, and notifies their observers.
fn each_call(call: &Arc<CallScope>, change: impl Fn(&CallScope)) {
    for call in successors(Some(call), |call| call.caller.call()) {
        change(call);
        if let Some(observer) = call.caller.observer() {
            let cx = ToolContext {
                facts: call.caller.facts.clone(),
                call: Some(call.clone()),
            };
            // A panic of the observer does not stop the call, and the panic hook has reported it.
            let _ = Panic::catch(|| observer.on_move(&cx));
        }
    }
}

/// Notified when a call's deadline starts running, which is after approval.
///
/// The pipeline checks the deadline only between two polls of a tool. A driver that runs each call in its own task can stop waiting for
/// a tool that never returns from a poll. This trait tells it when.
pub trait DeadlineObserver: Send + Sync {
    /// Called once for the call with this observer in its [place](super::place::CallPlace), not for the calls that its tool makes. The call ends
    /// at the [deadline](ToolContext::deadline) of `cx`, `limit` from now. Runs in the task of the call, before the
    /// tool, so it must not block.
    fn on_start(&self, cx: &ToolContext, limit: Duration);

    /// Called when the deadline of a started call moves, because it or a nested call waits for an [answer](ToolContext::ask), or has
    /// one. `cx` has the new deadline. Must not block. Does nothing by default.
    fn on_move(&self, cx: &ToolContext) {
        let _ = cx;
    }
}
