//! [`Table`]: the queue of admission, with the calls that hold or wait for keys and slots.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::task::Waker;

use tokio::time::Instant;

use super::concurrency::ConcurrencyLimit;
use super::index::Index;
use super::key::{Key, Reach};
use super::limiter::Limiter;

/// The requirements of a call.
pub(crate) struct Request<'a> {
    /// The keys of its targets.
    pub(crate) keys: Vec<Key>,
    /// The limiter of its tool. `None` for a tool without limits.
    pub(crate) limiter: Option<Arc<Limiter>>,
    /// True for a call made by another call.
    pub(crate) is_nested: bool,
    /// True if an outer call is in the table of another admission.
    pub(crate) has_foreign: bool,
    /// Its outer calls in this table, the outermost first.
    pub(crate) outer_calls: &'a [u64],
}

#[derive(Default)]
pub(super) struct Table {
    next: u64,
    calls: HashMap<u64, Call, foldhash::fast::RandomState>,
    index: Index,
    /// Calls that wait for a slot or a token and for no other call, in order of arrival.
    ready: BTreeSet<u64>,
    pub(super) waiting: usize,
}

struct Call {
    keys: Vec<Key>,
    limiter: Option<Arc<Limiter>>,
    outer_calls: Box<[u64]>,
    rule: WaitRule,
    state: TicketState,
    /// The number of calls it waits for.
    before: usize,
    /// The calls that wait for it. Some may have ended.
    behind: Vec<u64>,
    /// The time of its tool's next rate token.
    not_before: Option<Instant>,
    has_slot: bool,
    waker: Option<Waker>,
}

/// The calls that a call may wait for. The documentation of the parent module gives the reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitRule {
    /// A top-level call: waits for all earlier calls.
    Top,
    /// The outer calls hold nothing: waits for running calls and for earlier nested ones.
    Free,
    /// This outer call's keys cover all of its keys: waits for other calls inside the same outer call.
    Inside(u64),
    /// The call needs more than its outer calls hold: does not wait.
    Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TicketState {
    Waiting,
    Running,
    /// The call would have to wait, but may not.
    Refused,
}

/// The status of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    Refused,
    /// Waits. If it waits only for a rate token, with the time of the next one.
    Waiting(Option<Instant>),
}

/// The wakers to call after the table's lock is released.
pub(super) type Wakers = Vec<Waker>;

impl Table {
    /// Enqueues a call and starts it if possible. Returns `None` if the call would have to wait but may not.
    pub(super) fn register(
        &mut self,
        request: Request<'_>,
        concurrency: &ConcurrencyLimit,
        wakers: &mut Wakers,
    ) -> Option<u64> {
        let rule = self.rule(&request, concurrency, wakers);
        let Request {
            keys,
            limiter,
            outer_calls,
            ..
        } = request;
        let mut before = 0;
        let mut behind = Vec::new();
        let mut others = self.index.conflicts(&keys);
        others.retain(|other| !outer_calls.contains(other));
        // Rule 5: a call that waits here could wait for one that waits for its outer call.
        let mut states = others.iter().map(|other| self.calls[other].state);
        if rule == WaitRule::Bound && states.any(|state| state == TicketState::Running) {
            return None;
        }
        let id = self.next;
        self.next += 1;
        for other in others {
            let Some(call) = self.calls.get_mut(&other) else {
                continue;
            };
            if rule.goes_first(call) {
                call.before += 1;
                call.not_before = None;
                self.ready.remove(&other);
                behind.push(other);
            } else {
                call.behind.push(id);
                before += 1;
            }
        }
        self.index.insert(id, &keys);
        let call = Call {
            keys,
            limiter,
            outer_calls: outer_calls.into(),
            rule,
            state: TicketState::Waiting,
            before,
            behind,
            not_before: None,
            has_slot: false,
            waker: None,
        };
        self.calls.insert(id, call);
        self.waiting += 1;
        if before == 0 {
            self.ready.insert(id);
            self.serve(concurrency, wakers);
        }
        Some(id)
    }

    /// Removes a call in any state and starts the calls that can run now.
    pub(super) fn remove(&mut self, id: u64, concurrency: &ConcurrencyLimit, wakers: &mut Wakers) {
        let Some(call) = self.calls.remove(&id) else {
            return;
        };
        self.index.remove(id, &call.keys);
        self.ready.remove(&id);
        match call.state {
            TicketState::Waiting => self.waiting -= 1,
            TicketState::Refused => {}
            TicketState::Running => {
                if let Some(limiter) = &call.limiter {
                    limiter.leave();
                }
            }
        }
        if call.has_slot {
            concurrency.leave();
        }
        self.pass_on(call.behind);
        self.serve(concurrency, wakers);
    }

    /// Starts all calls that can run, in order of arrival.
    pub(super) fn serve(&mut self, concurrency: &ConcurrencyLimit, wakers: &mut Wakers) {
        if self.ready.is_empty() {
            concurrency.set_wanted(false);
            return;
        }
        // Set before looking for a slot, so that a thread that releases one meanwhile serves the queue again.
        concurrency.set_wanted(true);
        let mut is_full = false;
        let mut next = self.ready.first().copied();
        while let Some(id) = next {
            next = self.ready.range(id + 1..).next().copied();
            let Some(call) = self.calls.get_mut(&id) else {
                continue;
            };
            call.not_before = None;
            // A nested call that needed a slot of its own could wait for the slot of its outer call.
            let needs_slot = call.rule == WaitRule::Top;
            if needs_slot && is_full {
                continue;
            }
            let limiter = call.limiter.as_deref();
            if limiter.is_some_and(|limiter| limiter.is_full()) {
                // The slots may be held by its own outer calls, which end only after it: a limited tool that calls itself would wait for
                // itself.
                if matches!(call.rule, WaitRule::Inside(_) | WaitRule::Bound) {
                    call.state = TicketState::Refused;
                    self.waiting -= 1;
                    self.ready.remove(&id);
                    wakers.extend(call.waker.take());
                }
                continue;
            }
            if needs_slot {
                call.has_slot = concurrency.take();
                if !call.has_slot {
                    is_full = true;
                    continue;
                }
            }
            call.not_before = limiter.and_then(|limiter| limiter.enter().err());
            wakers.extend(call.waker.take());
            if call.not_before.is_some() {
                // A call that waits for a token holds nothing meanwhile, so that others can run.
                if std::mem::take(&mut call.has_slot) {
                    concurrency.leave();
                }
                continue;
            }
            call.state = TicketState::Running;
            self.waiting -= 1;
            self.ready.remove(&id);
        }
        concurrency.set_wanted(is_full);
    }

    /// Returns the status of a call. Registers the waker if the call waits.
    pub(super) fn status(&mut self, id: u64, waker: &Waker) -> Status {
        let Some(call) = self.calls.get_mut(&id) else {
            return Status::Refused;
        };
        match call.state {
            TicketState::Running => Status::Running,
            TicketState::Refused => Status::Refused,
            TicketState::Waiting => {
                call.waker = Some(waker.clone());
                Status::Waiting(call.not_before)
            }
        }
    }

    pub(super) fn is_running(&self, id: u64) -> bool {
        self.calls
            .get(&id)
            .is_some_and(|call| call.state == TicketState::Running)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.index.is_empty() && self.ready.is_empty() && self.waiting == 0
    }

    fn rule(
        &mut self,
        request: &Request<'_>,
        concurrency: &ConcurrencyLimit,
        wakers: &mut Wakers,
    ) -> WaitRule {
        if !request.is_nested {
            return WaitRule::Top;
        }
        self.give_up(request.outer_calls, concurrency, wakers);
        // The order of two tables is unknown, so that a wait here could close a circle through the other one.
        if request.has_foreign {
            return WaitRule::Bound;
        }
        let nearest = request
            .outer_calls
            .iter()
            .rev()
            .find_map(|id| Some((*id, self.calls.get(id).filter(has_something)?)));
        match nearest {
            None => WaitRule::Free,
            Some((id, call))
                if request
                    .keys
                    .iter()
                    .all(|key| call.keys.iter().any(|held| held.covers(key))) =>
            {
                WaitRule::Inside(id)
            }
            Some(_) => WaitRule::Bound,
        }
    }

    /// Releases the `world` keys of the outer calls. A tool that declares no targets but calls other tools acts through them, and their
    /// keys cover it.
    fn give_up(
        &mut self,
        outer_calls: &[u64],
        concurrency: &ConcurrencyLimit,
        wakers: &mut Wakers,
    ) {
        for id in outer_calls {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            if call.keys.is_empty() || call.keys.iter().any(|key| key.reach != Reach::World) {
                continue;
            }
            let keys = std::mem::take(&mut call.keys);
            let behind = std::mem::take(&mut call.behind);
            self.index.remove(*id, &keys);
            self.pass_on(behind);
            self.serve(concurrency, wakers);
        }
    }

    /// Notes that these calls wait for one call less.
    fn pass_on(&mut self, behind: Vec<u64>) {
        for id in behind {
            let Some(call) = self.calls.get_mut(&id) else {
                continue;
            };
            call.before -= 1;
            if call.before == 0 && call.state == TicketState::Waiting {
                self.ready.insert(id);
            }
        }
    }
}

impl WaitRule {
    /// Returns true if a new call with this rule overtakes a conflicting call in the table.
    fn goes_first(self, other: &Call) -> bool {
        if other.state == TicketState::Running {
            return false;
        }
        match self {
            Self::Top => false,
            Self::Free => other.rule == Self::Top,
            Self::Inside(outer) => !other.outer_calls.contains(&outer),
            Self::Bound => true,
        }
    }
}

/// Returns true if other calls can have to wait for the call: it needs keys, or a slot of its tool's concurrency limit.
fn has_something(call: &&Call) -> bool {
    !call.keys.is_empty()
        || call
            .limiter
            .as_ref()
            .is_some_and(|limiter| limiter.limits_concurrency())
}
