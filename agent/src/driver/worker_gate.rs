//! [`WorkerGate`]: keeps one worker thread of a runtime free of tool calls.
//!
//! A tool that does not yield holds a worker thread, and cannot be stopped. At most all workers but one therefore poll calls
//! at a time. The last worker keeps other tasks, timers and sockets running.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::Waker;

use tokio::runtime::{Handle, Id};
use tools::IgnorePoison as _;

/// The gates by runtime.
static GATES: Mutex<Vec<(Id, Weak<WorkerGate>)>> = Mutex::new(Vec::new());

/// Returns the number of abandoned calls in this process that have not ended yet.
///
/// A call is abandoned if its run stopped waiting while the tool did not yield. It holds a worker thread of its runtime until
/// the tool yields or returns. If the number does not go down, a tool has a bug.
///
/// If abandoned calls hold all workers of a runtime but one, further calls there are refused with
/// [`Unavailable`](tools::ToolErrorKind::Unavailable). Only the end of the process frees the thread of a tool that never returns.
pub fn abandoned_calls() -> usize {
    let gates: Vec<_> = GATES
        .lock()
        .ignore_poison()
        .iter()
        .filter_map(|(_, gate)| gate.upgrade())
        .collect();
    gates.iter().map(|gate| gate.state().abandoned.len()).sum()
}

/// A limit on the calls of one runtime that are polled at the same time.
pub(super) struct WorkerGate {
    slots: usize,
    state: Mutex<GateState>,
}

#[derive(Default)]
struct GateState {
    /// The last number given to a call or a ticket.
    last_number: u64,
    polling: BTreeSet<u64>,
    /// The polled calls whose runs no longer wait for them.
    abandoned: BTreeSet<u64>,
    /// The calls that wait for a slot, by ticket.
    queue: BTreeMap<u64, QueuedCall>,
}

struct QueuedCall {
    call: u64,
    waker: Waker,
}

/// A call that passes the gate. Clones are the same call.
#[derive(Clone)]
pub(super) struct GatedCall {
    gate: Arc<WorkerGate>,
    /// The number of the call, unique on its runtime.
    pub(super) number: u64,
}

/// The result of [`GatedCall::enter`].
pub(super) enum GateDecision<'a> {
    /// The call may be polled while it holds the slot.
    Enter(PollSlot<'a>),
    /// The call is queued. Its waker is woken when it should try again.
    Wait,
    /// Abandoned calls hold all slots.
    Exhausted,
}

/// A slot held while a call is polled.
pub(super) struct PollSlot<'a>(&'a GatedCall);

/// The state of a call when its run stops waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollState {
    /// The call is being polled. It counts as abandoned until the poll ends.
    Polling,
    /// The call waits for a slot.
    Queued,
    /// The call has yielded. It is not abandoned, because the pipeline ends it.
    Idle,
}

impl WorkerGate {
    /// Returns the gate of this runtime.
    pub(super) fn for_runtime(runtime: &Handle) -> Arc<Self> {
        let mut gates = GATES.lock().ignore_poison();
        // Runtimes end, as those of tests do, and their gates with them.
        gates.retain(|(_, gate)| gate.strong_count() > 0);
        let gate = gates.iter().find(|(id, _)| *id == runtime.id());
        let known = gate.and_then(|(_, gate)| gate.upgrade());
        known.unwrap_or_else(|| {
            let gate = Arc::new(Self::new(runtime.metrics().num_workers().saturating_sub(1)));
            gates.push((runtime.id(), Arc::downgrade(&gate)));
            gate
        })
    }

    /// Creates a gate with this many slots, and at least one.
    fn new(slots: usize) -> Self {
        Self {
            // A runtime with one worker cannot keep one free, and must run calls all the same.
            slots: slots.max(1),
            state: Mutex::default(),
        }
    }

    pub(super) fn new_call(self: &Arc<Self>) -> GatedCall {
        let number = self.state().next_number();
        GatedCall {
            gate: self.clone(),
            number,
        }
    }

    /// Returns the number of abandoned calls on this runtime.
    pub(super) fn abandoned_calls(&self) -> usize {
        self.state().abandoned.len()
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().ignore_poison()
    }

    /// Changes the state and wakes the queued calls that can enter then.
    fn update<T>(&self, update: impl FnOnce(&mut GateState) -> T) -> T {
        let mut state = self.state();
        let outcome = update(&mut state);
        // If all slots are lost, all queued calls are woken and refused.
        let count = if state.abandoned.len() >= self.slots {
            usize::MAX
        } else {
            self.free(&state)
        };
        let queued = state.queue.values().take(count);
        let wakers: Vec<_> = queued.map(|queued| queued.waker.clone()).collect();
        // A waker runs foreign code, which may poll a call and come back here.
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        outcome
    }

    fn free(&self, state: &GateState) -> usize {
        self.slots.saturating_sub(state.polling.len())
    }
}

impl GateState {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

impl GatedCall {
    /// Acquires a slot or enqueues the call. Pass the returned `ticket` back on the next poll.
    ///
    /// A call whose tool has begun is never refused with [`GateDecision::Exhausted`]: it waits until its deadline.
    pub(super) fn enter(
        &self,
        ticket: &mut Option<u64>,
        waker: &Waker,
        has_begun: bool,
    ) -> GateDecision<'_> {
        let mut state = self.gate.state();
        let ahead = match *ticket {
            // No more than the slots are counted: a thousand waiting calls would make each poll long.
            Some(ticket) => state.queue.range(..ticket).take(self.gate.slots).count(),
            None => state.queue.len(),
        };
        if ahead < self.gate.free(&state) {
            state.polling.insert(self.number);
            ticket.take().and_then(|ticket| state.queue.remove(&ticket));
            return GateDecision::Enter(PollSlot(self));
        }
        // A call that has begun may have had effects, so it waits and is not refused.
        if !has_begun && state.abandoned.len() >= self.gate.slots {
            ticket.take().and_then(|ticket| state.queue.remove(&ticket));
            return GateDecision::Exhausted;
        }
        let ticket = *ticket.get_or_insert_with(|| state.next_number());
        state.queue.insert(
            ticket,
            QueuedCall {
                call: self.number,
                waker: waker.clone(),
            },
        );
        GateDecision::Wait
    }

    /// Removes the call from the queue.
    pub(super) fn leave_queue(&self, ticket: u64) {
        self.gate.update(|state| state.queue.remove(&ticket));
    }

    /// Abandons the call if it is being polled, and returns its state.
    pub(super) fn abandon(&self) -> PollState {
        self.gate.update(|state| {
            let mut queued = state.queue.values();
            let is_queued = queued.any(|queued| queued.call == self.number);
            if state.polling.contains(&self.number) {
                state.abandoned.insert(self.number);
                PollState::Polling
            } else if is_queued {
                PollState::Queued
            } else {
                PollState::Idle
            }
        })
    }
}

impl Drop for PollSlot<'_> {
    fn drop(&mut self) {
        let GatedCall { gate, number } = self.0;
        gate.update(|state| {
            state.polling.remove(number);
            state.abandoned.remove(number);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A call that tries to enter a gate.
    struct Caller {
        call: GatedCall,
        ticket: Option<u64>,
        wakes: Arc<WakeCount>,
    }

    impl Caller {
        fn new(gate: &Arc<WorkerGate>) -> Self {
            Self {
                call: gate.new_call(),
                ticket: None,
                wakes: Arc::default(),
            }
        }

        fn enter(&mut self) -> GateDecision<'_> {
            self.call
                .enter(&mut self.ticket, &self.wakes.clone().into(), false)
        }

        fn was_woken(&self) -> bool {
            self.wakes.0.swap(0, Ordering::Relaxed) > 0
        }
    }

    fn waits(entry: GateDecision<'_>) -> bool {
        matches!(entry, GateDecision::Wait)
    }

    #[test]
    fn at_most_all_slots_are_held_and_the_longest_waiting_call_is_next() {
        let gate = Arc::new(WorkerGate::new(2));
        let [mut a, mut b, mut c, mut d] = [(); 4].map(|()| Caller::new(&gate));
        let (first, second) = (a.enter(), b.enter());
        assert!(matches!(
            (&first, &second),
            (GateDecision::Enter(_), GateDecision::Enter(_))
        ));
        assert!(waits(c.enter()) && waits(d.enter()) && waits(c.enter()));
        assert!(!c.was_woken());
        drop(first);
        assert!(c.was_woken() && !d.was_woken());
        assert!(
            waits(Caller::new(&gate).enter()),
            "a slot is free, but other calls came first"
        );
        assert!(waits(d.enter()));
        let third = c.enter();
        assert!(matches!(third, GateDecision::Enter(_)));
        drop((second, third));
        assert!(d.was_woken() && matches!(d.enter(), GateDecision::Enter(_)));
    }

    #[test]
    fn a_call_that_leaves_the_queue_makes_room_for_the_next() {
        let gate = Arc::new(WorkerGate::new(1));
        let [mut a, mut b, mut c] = [(); 3].map(|()| Caller::new(&gate));
        let first = a.enter();
        assert!(waits(b.enter()) && waits(c.enter()));
        drop(first);
        assert!(b.was_woken() && !c.was_woken());
        b.call.leave_queue(b.ticket.unwrap());
        assert!(c.was_woken() && matches!(c.enter(), GateDecision::Enter(_)));
    }

    #[test]
    fn all_queued_calls_are_refused_when_the_last_slot_is_lost_until_its_call_ends() {
        let gate = Arc::new(WorkerGate::new(1));
        let [mut a, mut b, mut c] = [(); 3].map(|()| Caller::new(&gate));
        assert_eq!(a.call.abandon(), PollState::Idle);
        let abandoned = a.call.clone();
        let first = a.enter();
        assert!(waits(b.enter()) && waits(c.enter()));
        assert_eq!(b.call.abandon(), PollState::Queued);
        assert_eq!(
            (abandoned.abandon(), gate.abandoned_calls()),
            (PollState::Polling, 1)
        );
        assert!(b.was_woken() && c.was_woken());
        assert!(
            matches!(b.enter(), GateDecision::Exhausted)
                && matches!(c.enter(), GateDecision::Exhausted)
        );
        let mut begun = Caller::new(&gate);
        let waker = begun.wakes.clone().into();
        assert!(waits(begun.call.enter(&mut begun.ticket, &waker, true)));
        begun.call.leave_queue(begun.ticket.take().unwrap());
        drop(first);
        assert_eq!(gate.abandoned_calls(), 0);
        assert!(matches!(b.enter(), GateDecision::Enter(_)));
    }
}
