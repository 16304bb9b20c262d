//! [`Admission`]: how much goes on at once, and who waits for whom.
//!
//! A call may need a place among all calls, a place and a token of its tool, and the keys of what it touches. It takes all of them
//! at once, and while it waits it has none of them. Two calls conflict when one of them writes and their keys overlap; of two that
//! conflict, one waits for the other, and which of them is settled when the later one arrives:
//!
//! 1. A call that no other call makes waits for every conflicting one before it.
//! 2. A nested call takes no place among all calls, and conflicts with none of the calls that it comes from.
//! 3. Where the calls around it have neither keys nor places of their tools, it waits for conflicting calls that run, and for nested
//!    ones before it. It goes before calls of the first kind that have not begun: those may be waiting for the place of the call that
//!    it comes from.
//! 4. Where the nearest call around it that has something has keys that cover all of its own, it waits for other calls inside of that
//!    one. Nobody outside of it runs who conflicts, and whoever waits there goes behind.
//! 5. Any other nested call needs more than the calls around it have. It runs at once or is refused, so that two tools which each
//!    have what the other one needs cannot wait for each other.
//! 6. The key of a tool that does not say what it touches (`world:write:NAME`) is given up when that tool calls another one.
//!
//! So nobody waits in a circle. Give each call the depth of the nearest call around it that has something, 0 where there is none. A
//! call of rule 4 waits only for calls inside of the same one: for those of its own depth that came before it, or for deeper ones. A
//! call that runs and has something ends when the calls inside of it do, all of which are deeper. Calls of rules 1 and 3 wait for
//! those that run and for earlier ones of their kind, rule 1 also for rule 3, and never the other way round. Along every chain of
//! waiting the kind, the depth and the arrival change in one direction only.


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

use self::concurrency::{ConcurrencyLimit, ShardId};
use self::table::{Status, Table, Wakers};
use crate::sync::{Mutex, lock};
use crate::timer::timer;

pub(crate) use self::key::Key;
pub(crate) use self::limiter::Limiter;
pub(crate) use self::table::Request;

/// When a call that found the queue full is told to try again. Nobody knows when that is worth it; a call seldom takes longer.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The state that calls are permit by: limits, and who is using what. One catalog has one, and so have its copies and all tool
/// sets that are made of it; catalogs whose tools touch the same things can [share one](crate::Catalog::with_admission).
pub struct Admission {
    concurrency: ConcurrencyLimit,
    table: Mutex<Table>,
    max_waiting: usize,
    number: u64,
}

/// What a call was let through with, given back when this is dropped.
#[must_use = "what a call was let through with is given back when this is dropped"]
pub(crate) struct Permit<'a> {
    admission: &'a Admission,
    held: Held,
}

enum Held {
    Nothing,
    Shard(ShardId),
    Call(u64),
}

/// Why a call is not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// When it is worth another try.
    pub(crate) retry_after: Duration,
}

impl Admission {
    /// How many calls run at once where nobody says: more than any model asks for, and few enough that each can have open files and
    /// sockets under the usual limits of a system.
    pub const DEFAULT_MAX_CONCURRENCY: usize = 1024;

    /// How many calls wait where nobody says: as many as run, so that the last one waits for about one call's time.
    pub const DEFAULT_MAX_WAITING: usize = 1024;

    /// Room for [`Self::DEFAULT_MAX_CONCURRENCY`] calls at once, and for [`Self::DEFAULT_MAX_WAITING`] that wait.
    pub fn new() -> Self {
        Self::with_limits(Self::DEFAULT_MAX_CONCURRENCY, Self::DEFAULT_MAX_WAITING)
    }

    /// How many calls may run at once, 1 or more. Calls that other calls make are not counted: they run on the account of those.
    #[must_use]
    pub fn with_max_concurrency(self, max_concurrency: usize) -> Self {
        Self::with_limits(max_concurrency.max(1), self.max_waiting)
    }

    /// How many calls may wait. One more is refused at once with [`ToolErrorKind::Overloaded`](crate::ToolErrorKind::Overloaded).
    #[must_use]
    pub fn with_max_waiting(self, max_waiting: usize) -> Self {
        Self { max_waiting, ..self }
    }

    /// How many calls run, but for those that other calls make.
    pub fn running(&self) -> usize {
        self.concurrency.taken()
    }

    /// How many calls wait.
    pub fn waiting(&self) -> usize {
        lock(&self.table).waiting()
    }

    /// Tells this admission from others of the process.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Lets a call through that touches nothing and whose tool has no limits, unless it would have to wait. Takes no lock.
    pub(crate) fn enter(&self, is_nested: bool) -> Option<Permit<'_>> {
        let held = if is_nested { Held::Nothing } else { Held::Shard(self.concurrency.enter()?) };
        Some(Permit { admission: self, held })
    }

    /// Puts a call in its place in the queue; from now on it is its turn before any that conflict and come later. The call runs
    /// once [`wait`](Permit::wait) says so.
    pub(crate) fn register(&self, request: Request<'_>) -> Result<Permit<'_>, Refused> {
        let full = Refused { retry_after: RETRY_AFTER };
        let (permit, may_stay) = self
            .change(|table, wakers| {
                let id = table.register(request, &self.concurrency, wakers)?;
                let may_stay = table.is_running(id) || table.waiting() <= self.max_waiting;
                Some((Permit { admission: self, held: Held::Call(id) }, may_stay))
            })
            .ok_or(full)?;
        // The drop takes the lock, so it comes after it is released.
        if may_stay { Ok(permit) } else { Err(full) }
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.table).is_empty() && self.running() == 0
    }

    fn with_limits(max_concurrency: usize, max_waiting: usize) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { concurrency: ConcurrencyLimit::new(max_concurrency), table: Mutex::default(), max_waiting, number }
    }

    fn status(&self, id: u64, waker: &Waker) -> Status {
        lock(&self.table).status(id, waker)
    }

    fn serve(&self) {
        self.change(|table, wakers| table.serve(&self.concurrency, wakers));
    }

    /// Changes the table under its lock, and wakes whom that concerns after it: a waker is somebody's code.
    fn change<T>(&self, change: impl FnOnce(&mut Table, &mut Wakers) -> T) -> T {
        let mut wakers = Wakers::new();
        let outcome = change(&mut lock(&self.table), &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
        outcome
    }
}

impl Permit<'_> {
    /// The call's number in the table, where it is in there.
    pub(crate) fn id(&self) -> Option<u64> {
        match self.held {
            Held::Call(id) => Some(id),
            Held::Nothing | Held::Shard(_) => None,
        }
    }

    /// Whether the call can run now.
    pub(crate) fn is_running(&self) -> bool {
        self.id().is_none_or(|id| lock(&self.admission.table).is_running(id))
    }

    #[cfg(all(test, not(shuttle)))]
    fn is_refused(&self) -> bool {
        self.id().is_some_and(|id| self.admission.status(id, Waker::noop()) == Status::Refused)
    }

    /// Waits until the call can run. Dropped before, it leaves the queue.
    ///
    /// # Errors
    /// [`Refused`] where it may not wait any longer, or would have to wait for its tool's rate until after the deadline.
    pub(crate) async fn wait(&self, deadline: Instant) -> Result<(), Refused> {
        let Some(id) = self.id() else { return Ok(()) };
        let mut alarm = None;
        poll_fn(|task| {
            loop {
                let again = match self.admission.status(id, task.waker()) {
                    Status::Running => return Poll::Ready(Ok(())),
                    Status::Refused => return Poll::Ready(Err(Refused { retry_after: RETRY_AFTER })),
                    Status::Waiting(None) => return Poll::Pending,
                    Status::Waiting(Some(again)) => again,
                };
                if again >= deadline {
                    let retry_after = again.saturating_duration_since(Instant::now());
                    return Poll::Ready(Err(Refused { retry_after }));
                }
                let (until, alarm) = alarm.get_or_insert_with(|| (again, timer(again)));
                let Some(alarm) = alarm else { return Poll::Pending };
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
            Held::Shard(shard) => {
                if self.admission.concurrency.leave(shard) {
                    self.admission.serve();
                }
            }
            Held::Call(id) => self.admission.change(|table, wakers| table.remove(id, &self.admission.concurrency, wakers)),
        }
    }
}

impl Default for Admission {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission").field("running", &self.running()).field("waiting", &self.waiting()).finish()
    }
}
