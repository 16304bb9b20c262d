//! [`Table`]: the calls that have or wait for something that others may want, and who waits for whom.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::task::Waker;

use tokio::time::Instant;

use super::concurrency::{ConcurrencyLimit, ShardId};
use super::index::Index;
use super::key::{Key, Reach};
use super::limiter::Limiter;

/// What a call asks for.
pub(crate) struct Request<'a> {
    /// What it touches.
    pub(crate) keys: Vec<Key>,
    /// The limiter of its tool. `None` for a tool without limits.
    pub(crate) limiter: Option<Arc<Limiter>>,
    /// Whether it is made by another call.
    pub(crate) is_nested: bool,
    /// Whether a call around it has something of another admission.
    pub(crate) has_foreign: bool,
    /// The calls around it that have been in this table, the outermost first.
    pub(crate) around: &'a [u64],
}

#[derive(Default)]
pub(super) struct Table {
    next: u64,
    calls: HashMap<u64, Call, foldhash::fast::RandomState>,
    index: Index,
    /// Those who wait for nobody before them, but for a place, in the order of their arrival.
    ready: BTreeSet<u64>,
    waiting: usize,
}

struct Call {
    keys: Vec<Key>,
    limiter: Option<Arc<Limiter>>,
    around: Box<[u64]>,
    rule: WaitRule,
    state: State,
    /// How many calls it waits for.
    before: usize,
    /// Which calls wait for it. Some may be gone.
    behind: Vec<u64>,
    /// When its tool's rate allows another try.
    not_before: Option<Instant>,
    slot: Option<ShardId>,
    waker: Option<Waker>,
}

/// Whom a call may wait for. The module says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitRule {
    /// It was made by nobody: for everybody before it.
    Top,
    /// The calls around it have nothing: for those who run, and for nested ones before it.
    Free,
    /// All that it needs is inside of what this call has: for others inside of it.
    Inside(u64),
    /// It needs more than the calls around it have: for nobody.
    Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    /// What it would have to wait for, it may not wait for.
    Refused,
}

/// What a waiting call sees of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    Refused,
    /// With the moment at which its tool's rate allows another try, if that is all that is missing.
    Waiting(Option<Instant>),
}

/// Those to be woken once the table's lock is released.
pub(super) type Wakers = Vec<Waker>;

impl Table {
    /// Puts a call at the end of the queue, and lets it through if it can go. `None` where it may not wait and would have to.
    pub(super) fn register(&mut self, request: Request<'_>, concurrency: &ConcurrencyLimit, wakers: &mut Wakers) -> Option<u64> {
        let rule = self.rule(&request, concurrency, wakers);
        let Request { keys, limiter, around, .. } = request;
        let (mut before, mut behind) = (0, Vec::new());
        let conflicts = self.index.conflicts(&keys);
        let others = || conflicts.iter().copied().filter(|other| !around.contains(other));
        if rule == WaitRule::Bound && others().any(|other| self.calls[&other].state == State::Running) {
            return None;
        }
        let id = self.next;
        self.next += 1;
        for other in others() {
            let Some(call) = self.calls.get_mut(&other) else { continue };
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
            around: around.into(),
            rule,
            state: State::Waiting,
            before,
            behind,
            not_before: None,
            slot: None,
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

    /// Takes a call out, wherever it stands, and lets through who can go then.
    pub(super) fn remove(&mut self, id: u64, concurrency: &ConcurrencyLimit, wakers: &mut Wakers) {
        let Some(call) = self.calls.remove(&id) else { return };
        self.index.remove(id, &call.keys);
        self.ready.remove(&id);
        match call.state {
            State::Waiting => self.waiting -= 1,
            State::Refused => {}
            State::Running => {
                if let Some(limiter) = &call.limiter {
                    limiter.leave();
                }
            }
        }
        if let Some(slot) = call.slot {
            concurrency.leave(slot);
        }
        self.pass_on(call.behind);
        self.serve(concurrency, wakers);
    }

    /// Lets through everybody who can go, in the order of their arrival.
    pub(super) fn serve(&mut self, concurrency: &ConcurrencyLimit, wakers: &mut Wakers) {
        if self.ready.is_empty() {
            concurrency.set_wanted(false);
            return;
        }
        // Said before a place is looked for: whoever gives one back meanwhile sees it and comes here afterwards.
        concurrency.set_wanted(true);
        let mut is_full = false;
        let mut next = self.ready.first().copied();
        while let Some(id) = next {
            next = self.ready.range(id + 1..).next().copied();
            let Some(call) = self.calls.get_mut(&id) else { continue };
            call.not_before = None;
            let needs_slot = call.rule == WaitRule::Top;
            if needs_slot && is_full {
                continue;
            }
            let limiter = call.limiter.as_deref();
            if limiter.is_some_and(|limiter| limiter.is_full()) {
                if matches!(call.rule, WaitRule::Inside(_) | WaitRule::Bound) {
                    call.state = State::Refused;
                    self.waiting -= 1;
                    self.ready.remove(&id);
                    wakers.extend(call.waker.take());
                }
                continue;
            }
            if needs_slot {
                call.slot = concurrency.take();
                if call.slot.is_none() {
                    is_full = true;
                    continue;
                }
            }
            call.not_before = limiter.and_then(|limiter| limiter.enter().err());
            wakers.extend(call.waker.take());
            if call.not_before.is_some() {
                if let Some(slot) = call.slot.take() {
                    concurrency.leave(slot);
                }
                continue;
            }
            call.state = State::Running;
            self.waiting -= 1;
            self.ready.remove(&id);
        }
        concurrency.set_wanted(is_full);
    }

    /// How it stands with a call. While it waits, this waker will be woken when that changes.
    pub(super) fn status(&mut self, id: u64, waker: &Waker) -> Status {
        let Some(call) = self.calls.get_mut(&id) else { return Status::Refused };
        match call.state {
            State::Running => Status::Running,
            State::Refused => Status::Refused,
            State::Waiting => {
                call.waker = Some(waker.clone());
                Status::Waiting(call.not_before)
            }
        }
    }

    /// How many calls wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    pub(super) fn is_running(&self, id: u64) -> bool {
        self.calls.get(&id).is_some_and(|call| call.state == State::Running)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.index.is_empty() && self.ready.is_empty() && self.waiting == 0
    }

    fn rule(&mut self, request: &Request<'_>, concurrency: &ConcurrencyLimit, wakers: &mut Wakers) -> WaitRule {
        if !request.is_nested {
            return WaitRule::Top;
        }
        self.give_up(request.around, concurrency, wakers);
        if request.has_foreign {
            return WaitRule::Bound;
        }
        let nearest = request.around.iter().rev().find_map(|id| Some((*id, self.calls.get(id).filter(has_something)?)));
        match nearest {
            None => WaitRule::Free,
            Some((id, call)) if request.keys.iter().all(|key| call.keys.iter().any(|held| held.covers(key))) => {
                WaitRule::Inside(id)
            }
            Some(_) => WaitRule::Bound,
        }
    }

    /// Takes from the calls around a new one the keys that say no more than their tools' names. A tool that does not say what it
    /// touches and calls others has shown what it is: what they touch is in their keys.
    fn give_up(&mut self, around: &[u64], concurrency: &ConcurrencyLimit, wakers: &mut Wakers) {
        for id in around {
            let Some(call) = self.calls.get_mut(id) else { continue };
            if call.keys.is_empty() || call.keys.iter().any(|key| key.reach != Reach::World) {
                continue;
            }
            let (keys, behind) = (std::mem::take(&mut call.keys), std::mem::take(&mut call.behind));
            self.index.remove(*id, &keys);
            self.pass_on(behind);
            self.serve(concurrency, wakers);
        }
    }

    /// One of those that these calls wait for is out of their way.
    fn pass_on(&mut self, behind: Vec<u64>) {
        for id in behind {
            let Some(call) = self.calls.get_mut(&id) else { continue };
            call.before -= 1;
            if call.before == 0 && call.state == State::Waiting {
                self.ready.insert(id);
            }
        }
    }
}

impl WaitRule {
    /// Whether a new call under this rule goes before one that it conflicts with and that is in the table already.
    fn goes_first(self, other: &Call) -> bool {
        if other.state == State::Running {
            return false;
        }
        match self {
            Self::Top => false,
            Self::Free => other.rule == Self::Top,
            Self::Inside(outer) => !other.around.contains(&outer),
            Self::Bound => true,
        }
    }
}

/// Whether others may be waiting for what the call has.
fn has_something(call: &&Call) -> bool {
    !call.keys.is_empty() || call.limiter.as_ref().is_some_and(|limiter| limiter.limits_concurrency())
}
