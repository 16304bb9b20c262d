//! [`Gate`]: calls leave their runtime a thread.
//!
//! A tool that does not yield holds a worker thread of the runtime, and nothing can take it back. Calls are therefore polled on all
//! workers but one: what else runs there, timers and sockets included, goes on whatever the tools do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use tokio::runtime::{Handle, Id};

/// The gates of the runtimes that calls run on.
static GATES: Mutex<Vec<(Id, Weak<Gate>)>> = Mutex::new(Vec::new());

/// How many calls of this process were given up because their tools do not yield, and have not ended since. Each holds a worker
/// thread of its runtime, or the end of one that its tool blocks in.
///
/// A number that does not go down again is a fault of a tool. Runs go on: as soon as such calls hold all workers of a runtime
/// but one, further calls are refused there with [`Unavailable`](tools::ToolErrorKind::Unavailable). Only the end of the process
/// frees the threads of a tool that never returns.
pub fn abandoned_calls() -> usize {
    let gates: Vec<_> = locked(&GATES).iter().filter_map(|(_, gate)| gate.upgrade()).collect();
    gates.iter().map(|gate| gate.state().abandoned.len()).sum()
}

/// What calls on one runtime pass whenever they are polled.
pub(super) struct Gate {
    places: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The next number, of a call or of a place in the queue.
    next: u64,
    polling: BTreeSet<u64>,
    /// Those of them that nobody waits for any more.
    abandoned: BTreeSet<u64>,
    /// Those that want to be polled, in the order in which they came.
    queue: BTreeMap<u64, Waiting>,
}

struct Waiting {
    pass: u64,
    waker: Waker,
}

/// A call, for the gate. Clones are the same call.
#[derive(Clone)]
pub(super) struct Pass {
    gate: Arc<Gate>,
    number: u64,
}

/// Whether a call may be polled.
pub(super) enum Entry<'a> {
    In(Inside<'a>),
    /// The waker is woken when it is worth another try.
    Wait,
    /// Calls that were given up have all places.
    Lost,
}

/// A call that is being polled.
pub(super) struct Inside<'a>(&'a Pass);

/// What a call was doing when it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// It is being polled, and counts as abandoned until that ends.
    Polling,
    /// It waits for a place.
    Queued,
    /// It waits for something of its own, so it was not given up: the counter ends it.
    Waiting,
}

impl Gate {
    pub(super) fn of(runtime: &Handle) -> Arc<Self> {
        let mut gates = locked(&GATES);
        gates.retain(|(_, gate)| gate.strong_count() > 0);
        let known = gates.iter().find(|(id, _)| *id == runtime.id()).and_then(|(_, gate)| gate.upgrade());
        known.unwrap_or_else(|| {
            let gate = Arc::new(Self::new(runtime.metrics().num_workers().saturating_sub(1)));
            gates.push((runtime.id(), Arc::downgrade(&gate)));
            gate
        })
    }

    /// A gate with so many places, but at least one.
    fn new(places: usize) -> Self {
        Self { places: places.max(1), state: Mutex::default() }
    }

    pub(super) fn pass(self: &Arc<Self>) -> Pass {
        let number = self.state().number();
        Pass { gate: self.clone(), number }
    }

    /// How many calls on this runtime are abandoned.
    pub(super) fn abandoned(&self) -> usize {
        self.state().abandoned.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Changes the state, and wakes those whose turn it is then.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let changed = change(&mut state);
        // Where nothing is to be had, everybody is told so.
        let next = if state.abandoned.len() >= self.places { usize::MAX } else { self.free(&state) };
        let wakers: Vec<_> = state.queue.values().take(next).map(|waiting| waiting.waker.clone()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        changed
    }

    fn free(&self, state: &State) -> usize {
        self.places.saturating_sub(state.polling.len())
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Pass {
    /// Tells the call from all others of its runtime.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Goes in, or queues. `spot` is the call's in the queue, to be given again the next time. A call whose tool has begun is not
    /// told that there is no place for it: it waits for its deadline.
    pub(super) fn enter(&self, spot: &mut Option<u64>, waker: &Waker, has_begun: bool) -> Entry<'_> {
        let mut state = self.gate.state();
        let ahead = match *spot {
            Some(spot) => state.queue.range(..spot).take(self.gate.places).count(),
            None => state.queue.len(),
        };
        if ahead < self.gate.free(&state) {
            state.polling.insert(self.number);
            spot.take().and_then(|spot| state.queue.remove(&spot));
            return Entry::In(Inside(self));
        }
        if !has_begun && state.abandoned.len() >= self.gate.places {
            spot.take().and_then(|spot| state.queue.remove(&spot));
            return Entry::Lost;
        }
        let spot = *spot.get_or_insert_with(|| state.number());
        state.queue.insert(spot, Waiting { pass: self.number, waker: waker.clone() });
        Entry::Wait
    }

    /// Leaves the queue.
    pub(super) fn step_out(&self, spot: u64) {
        self.gate.change(|state| state.queue.remove(&spot));
    }

    /// Gives the call up, unless it waits for something of its own.
    pub(super) fn give_up(&self) -> Doing {
        self.gate.change(|state| {
            if state.polling.contains(&self.number) {
                state.abandoned.insert(self.number);
                Doing::Polling
            } else if state.queue.values().any(|waiting| waiting.pass == self.number) {
                Doing::Queued
            } else {
                Doing::Waiting
            }
        })
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let Pass { gate, number } = self.0;
        gate.change(|state| {
            state.polling.remove(number);
            state.abandoned.remove(number);
        });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Rung(AtomicUsize);

    impl Wake for Rung {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A call before the gate.
    struct Caller {
        pass: Pass,
        spot: Option<u64>,
        rung: Arc<Rung>,
    }

    impl Caller {
        fn new(gate: &Arc<Gate>) -> Self {
            Self { pass: gate.pass(), spot: None, rung: Arc::default() }
        }

        fn enter(&mut self) -> Entry<'_> {
            self.pass.enter(&mut self.spot, &self.rung.clone().into(), false)
        }

        fn rung(&self) -> bool {
            self.rung.0.swap(0, Ordering::Relaxed) > 0
        }
    }

    fn waits(entry: Entry<'_>) -> bool {
        matches!(entry, Entry::Wait)
    }

    #[test]
    fn no_more_are_in_than_there_are_places_and_who_waited_longest_is_next() {
        let gate = Arc::new(Gate::new(2));
        let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| Caller::new(&gate));
        let (first, second) = (a.enter(), b.enter());
        assert!(matches!((&first, &second), (Entry::In(_), Entry::In(_))));
        assert!(waits(c.enter()) && waits(d.enter()) && waits(c.enter()));
        assert!(!c.rung());
        drop(first);
        assert!(c.rung() && !d.rung());
        assert!(waits(Caller::new(&gate).enter()), "there is a place, and others came first");
        assert!(waits(d.enter()));
        let third = c.enter();
        assert!(matches!(third, Entry::In(_)));
        drop((second, third));
        assert!(d.rung() && matches!(d.enter(), Entry::In(_)));
    }

    #[test]
    fn who_leaves_the_queue_makes_room_for_the_next() {
        let gate = Arc::new(Gate::new(1));
        let [mut a, mut b, mut c] = [(); 3].map(|()| Caller::new(&gate));
        let first = a.enter();
        assert!(waits(b.enter()) && waits(c.enter()));
        drop(first);
        assert!(b.rung() && !c.rung());
        b.pass.step_out(b.spot.unwrap());
        assert!(c.rung() && matches!(c.enter(), Entry::In(_)));
    }

    #[test]
    fn everybody_is_told_when_the_last_place_is_lost_and_it_comes_back_with_the_call() {
        let gate = Arc::new(Gate::new(1));
        let [mut a, mut b, mut c] = [(); 3].map(|()| Caller::new(&gate));
        assert_eq!(a.pass.give_up(), Doing::Waiting);
        let given_up = a.pass.clone();
        let first = a.enter();
        assert!(waits(b.enter()) && waits(c.enter()));
        assert_eq!(b.pass.give_up(), Doing::Queued);
        assert_eq!((given_up.give_up(), gate.abandoned()), (Doing::Polling, 1));
        assert!(b.rung() && c.rung());
        assert!(matches!(b.enter(), Entry::Lost) && matches!(c.enter(), Entry::Lost));
        let mut begun = Caller::new(&gate);
        let waker = begun.rung.clone().into();
        assert!(waits(begun.pass.enter(&mut begun.spot, &waker, true)));
        begun.pass.step_out(begun.spot.take().unwrap());
        drop(first);
        assert_eq!(gate.abandoned(), 0);
        assert!(matches!(b.enter(), Entry::In(_)));
    }
}
