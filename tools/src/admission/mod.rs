//! [`Admission`]: concurrency limits, rate limits and conflicts between calls.
//!
//! A call can need a slot of the concurrency limit, a slot and a rate token of its tool, and the keys of its targets. It takes all of
//! them at once, and holds nothing while it waits. Two calls conflict if their keys overlap and one of them writes. Which of two
//! conflicting calls waits is decided when the later one arrives:
//!
//! 1. A top-level call waits for every conflicting call that arrived before it.
//! 2. A nested call takes no slot of the concurrency limit and never conflicts with its outer calls.
//! 3. If its outer calls hold neither keys nor slots of their tools, a nested call waits for conflicting calls that run. It also waits
//!    for conflicting nested calls that arrived before. It overtakes top-level calls that have not started, because they may wait for
//!    its outer call's slot.
//! 4. Otherwise, look at the innermost outer call that holds keys or a tool's slot. If its keys cover all keys of the nested call, the
//!    nested call waits only for conflicting calls inside the same outer call. No conflicting call outside of it can run, and waiting
//!    ones are overtaken.
//! 5. Any other nested call needs keys or slots that its outer calls do not hold. It runs at once or is refused. If it could wait, two
//!    tools that each hold a key of the other would deadlock.
//! 6. A tool that declares no targets has the key `world:write:NAME`, which it releases when it calls another tool.
//!
//! These rules are free of deadlocks. In the proof, the depth of a call is that of its innermost outer call that holds keys or a tool's
//! slot. Without such a call it is 0.
//!
//! - A call of rule 4 waits only for calls inside the same outer call: earlier ones of its own depth, or deeper ones.
//! - A running call that holds something ends after the calls inside it, which are all deeper.
//! - Calls of rules 1 and 3 wait for running calls and for earlier calls of their own rule. Rule 1 also waits for rule 3, but never the
//!   other way round.
//!
//! Along every chain of waiting calls, the rule, the depth and the arrival therefore change in one direction only.

mod concurrency;
mod index;
mod key;
mod limiter;
mod rate;
mod table;

#[cfg(all(test, shuttle))]
mod shuttle_tests;
#[cfg(all(test, not(shuttle)))]
mod tests;

use std::fmt;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use self::concurrency::ConcurrencyLimit;
use self::table::{Status, Table, Wakers};
use crate::sync::{Mutex, lock};
use crate::timer::timer;

pub(crate) use self::key::Key;
pub(crate) use self::limiter::Limiter;
pub(crate) use self::table::Request;

/// The refusal of a full queue: most calls take less than its delay.
const FULL: Refused = Refused {
    retry_after: Duration::from_secs(1),
};

/// Limits the concurrency of calls and runs conflicting calls one after the other.
///
/// A catalog shares its admission with its clones and tool sets. Catalogs whose tools touch the same targets can
/// [share one](crate::Catalog::with_admission).
#[must_use]
pub struct Admission {
    concurrency: ConcurrencyLimit,
    table: Mutex<Table>,
    max_waiting: usize,
    pub(crate) number: u64,
}

/// The permission of a call to run, or its position in the queue until it may. Dropping it releases the call's slots and keys.
#[must_use = "dropping the permit releases the slots and keys of the call"]
pub(crate) struct Permit<'a> {
    admission: &'a Admission,
    held: Held,
}

enum Held {
    Nothing,
    Slot,
    Call(u64),
}

/// The error of a call that is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The time until a retry.
    pub(crate) retry_after: Duration,
}

impl Admission {
    /// The default number of concurrent calls: more than any model makes, and few enough to stay within a system's usual limits on open
    /// files and sockets.
    pub const DEFAULT_MAX_CONCURRENCY: usize = 1024;

    /// The default number of waiting calls. It equals the number of concurrent calls, so the last one waits for about one call's
    /// duration.
    pub const DEFAULT_MAX_WAITING: usize = 1024;

    /// Sets the maximum number of concurrent calls; 0 counts as 1. Nested calls do not count: they share the slot of their outer call.
    pub fn with_max_concurrency(self, max_concurrency: usize) -> Self {
        Self::with_limits(max_concurrency.max(1), self.max_waiting)
    }

    /// Sets the maximum number of waiting calls. Further calls fail with [`ToolErrorKind::Overloaded`](crate::ToolErrorKind::Overloaded).
    pub fn with_max_waiting(self, max_waiting: usize) -> Self {
        Self {
            max_waiting,
            ..self
        }
    }

    /// Returns the number of running calls, without nested ones.
    pub fn running(&self) -> usize {
        self.concurrency.count_taken()
    }

    /// Returns the number of waiting calls.
    pub fn waiting(&self) -> usize {
        lock(&self.table).waiting
    }

    /// Admits a call without keys and without limits of its tool, without locking. Returns `None` if the call would have to wait.
    pub(crate) fn enter(&self, is_nested: bool) -> Option<Permit<'_>> {
        let held = if is_nested { Held::Nothing } else { Held::Slot };
        // Not built before, because a permit that is dropped gives its slot back.
        (is_nested || self.concurrency.enter()).then(|| Permit {
            admission: self,
            held,
        })
    }

    /// Enqueues a call, ahead of conflicting calls that arrive later. The call may run when [`wait`](Permit::wait) returns.
    ///
    /// # Errors
    /// Returns [`Refused`] if the queue is full, or if a nested call would have to wait but may not.
    pub(crate) fn register(&self, request: Request<'_>) -> Result<Permit<'_>, Refused> {
        // Dropping the permit takes the lock, so it happens after `change` released it.
        let (permit, may_stay) = self
            .change(|table, wakers| {
                let id = table.register(request, &self.concurrency, wakers)?;
                let may_stay = table.is_running(id) || table.waiting <= self.max_waiting;
                Some((
                    Permit {
                        admission: self,
                        held: Held::Call(id),
                    },
                    may_stay,
                ))
            })
            .ok_or(FULL)?;
        if may_stay { Ok(permit) } else { Err(FULL) }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.table).is_empty() && self.running() == 0
    }

    fn with_limits(max_concurrency: usize, max_waiting: usize) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            concurrency: ConcurrencyLimit::new(max_concurrency),
            table: Mutex::default(),
            max_waiting,
            number,
        }
    }

    fn status(&self, id: u64, waker: &Waker) -> Status {
        lock(&self.table).status(id, waker)
    }

    fn serve(&self) {
        self.change(|table, wakers| table.serve(&self.concurrency, wakers));
    }

    /// Changes the table under its lock and wakes calls after releasing it, because a waker runs foreign code.
    fn change<T>(&self, change: impl FnOnce(&mut Table, &mut Wakers) -> T) -> T {
        let mut wakers = Wakers::new();
        let outcome = change(&mut lock(&self.table), &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        outcome
    }
}

impl Permit<'_> {
    /// Returns the call's number in the table, or `None` if the call was admitted without the table.
    pub(crate) fn id(&self) -> Option<u64> {
        match self.held {
            Held::Call(id) => Some(id),
            Held::Nothing | Held::Slot => None,
        }
    }

    /// Returns true if the call may run.
    pub(crate) fn is_running(&self) -> bool {
        self.id()
            .is_none_or(|id| lock(&self.admission.table).is_running(id))
    }

    #[cfg(all(test, not(shuttle)))]
    fn is_refused(&self) -> bool {
        self.id()
            .is_some_and(|id| self.admission.status(id, Waker::noop()) == Status::Refused)
    }

    /// Waits until the call may run.
    ///
    /// # Errors
    /// Returns [`Refused`] if the call may not wait, or if its tool's rate limit allows no start before the deadline.
    pub(crate) async fn wait(&self, deadline: Instant) -> Result<(), Refused> {
        let Some(id) = self.id() else { return Ok(()) };
        let mut alarm = None;
        poll_fn(|task| {
            loop {
                let again = match self.admission.status(id, task.waker()) {
                    Status::Running => return Poll::Ready(Ok(())),
                    Status::Refused => return Poll::Ready(Err(FULL)),
                    Status::Waiting(None) => return Poll::Pending,
                    Status::Waiting(Some(again)) => again,
                };
                // The call could only wait and then fail. The model learns at once when a retry may succeed.
                if again >= deadline {
                    let retry_after = again.saturating_duration_since(Instant::now());
                    return Poll::Ready(Err(Refused { retry_after }));
                }
                let (until, alarm) = alarm.get_or_insert_with(|| (again, timer(again)));
                // Without a clock, the call still runs when another one ends and serves the queue.
                let Some(alarm) = alarm else {
                    return Poll::Pending;
                };
                if *until != again {
                    *until = again;
                    alarm.as_mut().reset(again);
                }
                if alarm.as_mut().poll(task).is_pending() {
                    return Poll::Pending;
                }
                self.admission.serve();
            }
        })
        .await
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        match self.held {
            Held::Nothing => {}
            Held::Slot => {
                if self.admission.concurrency.leave() {
                    self.admission.serve();
                }
            }
            Held::Call(id) => self
                .admission
                .change(|table, wakers| table.remove(id, &self.admission.concurrency, wakers)),
        }
    }
}

impl Default for Admission {
    /// Creates an admission for [`Self::DEFAULT_MAX_CONCURRENCY`] concurrent and [`Self::DEFAULT_MAX_WAITING`] waiting calls.
    fn default() -> Self {
        Self::with_limits(Self::DEFAULT_MAX_CONCURRENCY, Self::DEFAULT_MAX_WAITING)
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("running", &self.running())
            .field("waiting", &self.waiting())
            .finish()
    }
}
