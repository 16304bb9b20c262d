//! [`CallOrder`]: calls that arrive in the order in which they were made, wherever they run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::sync::{Mutex, lock};

/// An order among calls. Which of two conflicting calls goes first is decided by which arrives first; of calls that are run in
/// tasks of their own nobody knows, unless they have an order. They still run side by side where they do not conflict.
///
/// A call has arrived when it is in the queue for what it needs, or has ended before. One that somebody has to approve of arrives
/// when the answer does, and the others do not wait for it.
#[derive(Clone, Default)]
pub struct CallOrder(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many tickets there are.
    issued: u64,
    /// The first ticket that has not come.
    first: u64,
    /// Spots after it that have.
    passed: BTreeSet<u64>,
    wakers: BTreeMap<u64, Waker>,
}

/// A call's ticket in an order. It has come when this is dropped.
pub(crate) struct Ticket {
    order: CallOrder,
    number: u64,
}

impl CallOrder {
    /// Creates an order without calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// A ticket behind all others.
    pub(crate) fn enqueue(&self) -> Ticket {
        let mut state = lock(&self.0);
        let number = state.issued;
        state.issued += 1;
        Ticket { order: self.clone(), number }
    }
}

impl Ticket {
    /// Waits until all before this one have come.
    pub(crate) async fn wait_turn(&self) {
        poll_fn(|task| {
            let mut state = lock(&self.order.0);
            if state.first >= self.number {
                return Poll::Ready(());
            }
            state.wakers.insert(self.number, task.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = lock(&self.order.0);
        state.wakers.remove(&self.number);
        if state.first != self.number {
            state.passed.insert(self.number);
            return;
        }
        state.first += 1;
        while state.passed.first() == Some(&state.first) {
            state.passed.pop_first();
            state.first += 1;
        }
        let first = state.first;
        let next = state.wakers.remove(&first);
        drop(state);
        next.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for CallOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOrder").finish_non_exhaustive()
    }
}
