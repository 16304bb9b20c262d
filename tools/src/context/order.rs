//! [`CallOrder`]: makes calls enter the queue of admission in a fixed order.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::sync::{Mutex, lock};

/// Makes calls enter the queue of [`Admission`](crate::Admission) in the order in which they were added.
///
/// Of two conflicting calls, the one that is enqueued first runs first. Without an order, calls in separate tasks are enqueued in any
/// order. Calls that do not conflict still run concurrently.
///
/// A call lets the next one pass when it is enqueued or has ended. A call that needs an approval is enqueued after the answer, and the
/// others do not wait for it.
#[derive(Clone, Default)]
pub struct CallOrder(Arc<Mutex<OrderState>>);

#[derive(Default)]
struct OrderState {
    /// The number of issued tickets.
    issued: u64,
    /// The first ticket that was not dropped.
    first: u64,
    /// The later tickets that were dropped.
    passed: BTreeSet<u64>,
    wakers: BTreeMap<u64, Waker>,
}

/// The position of a call in an order. Dropping it lets the next call pass.
pub(crate) struct Ticket {
    order: CallOrder,
    number: u64,
}

impl CallOrder {
    /// Creates an order without calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Issues the next ticket.
    pub(crate) fn enqueue(&self) -> Ticket {
        let mut state = lock(&self.0);
        let number = state.issued;
        state.issued += 1;
        Ticket {
            order: self.clone(),
            number,
        }
    }
}

impl Ticket {
    /// Waits until all earlier tickets are dropped.
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
        // A call that was dropped while it waited must not be woken instead of the next one.
        state.wakers.remove(&self.number);
        if state.first != self.number {
            // A ticket may be dropped before its turn, such as that of a refused call, and later ones then skip it.
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
        // A waker runs foreign code, which may take the lock.
        drop(state);
        next.into_iter().for_each(Waker::wake);
    }
}
