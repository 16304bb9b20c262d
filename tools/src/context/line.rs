//! [`Line`]: calls that arrive in the order in which they were made, wherever they run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use super::ToolContext;
use crate::sync::{Mutex, lock};

/// An order among calls. Which of two conflicting calls goes first is decided by which arrives first; of calls that are run in
/// tasks of their own nobody knows, unless they stand in a line. They still run side by side where they do not conflict.
///
/// A call has arrived when it is in the queue for what it needs, or has ended before. One that somebody has to approve of arrives
/// when the answer does, and the others do not wait for it.
#[derive(Clone, Default)]
pub struct Line(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// How many spots there are.
    given: u64,
    /// The first spot that has not come.
    first: u64,
    /// Spots after it that have.
    came: BTreeSet<u64>,
    wakers: BTreeMap<u64, Waker>,
}

/// A call's spot in a line. It has come when this is dropped.
pub(crate) struct Spot {
    line: Line,
    number: u64,
}

/// A spot that the first call of a context takes.
pub(super) type SpotOnce = Option<Arc<Mutex<Option<Spot>>>>;

impl Line {
    /// A line that nobody stands in.
    pub fn new() -> Self {
        Self::default()
    }

    /// A spot behind all others.
    pub(crate) fn stand(&self) -> Spot {
        let mut state = lock(&self.0);
        let number = state.given;
        state.given += 1;
        Spot { line: self.clone(), number }
    }
}

impl Spot {
    /// Waits until all before this one have come.
    pub(crate) async fn come(&self) {
        poll_fn(|task| {
            let mut state = lock(&self.line.0);
            if state.first >= self.number {
                return Poll::Ready(());
            }
            state.wakers.insert(self.number, task.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Spot {
    fn drop(&mut self) {
        let mut state = lock(&self.line.0);
        state.wakers.remove(&self.number);
        state.came.insert(self.number);
        while state.came.first() == Some(&state.first) {
            state.came.pop_first();
            state.first += 1;
        }
        let first = state.first;
        let next = state.wakers.remove(&first);
        drop(state);
        next.into_iter().for_each(Waker::wake);
    }
}

impl ToolContext {
    /// The next call that is made with this context arrives after those that were made with this line before. It is one call's
    /// spot: take a context of its own for each, and drop it once the call is made.
    #[must_use]
    pub fn with_line(self, line: &Line) -> Self {
        let spot = Arc::new(Mutex::new(Some(line.stand())));
        self.with(|facts| facts.spot = Some(spot))
    }

    pub(crate) fn take_spot(&self) -> Option<Spot> {
        lock(self.facts.spot.as_ref()?).take()
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}
