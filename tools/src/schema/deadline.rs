//! The deadline of a check.
//!
//! A check blocks the caller's thread, so no timer can end it. Instead the validator's steps read the clock. After the deadline
//! [`Instance`](super::instance::Instance) hides the rest of the value, so the check ends after at most one pass over the schema.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;

/// The steps between two readings of the clock, about 50 µs.
const STEPS: u32 = 1024;

struct Clock {
    deadline: Cell<Option<Instant>>,
    /// The steps left until the next reading.
    steps: Cell<u32>,
    is_over: Cell<bool>,
}

thread_local! {
    static CLOCK: Clock =
        const { Clock { deadline: Cell::new(None), steps: Cell::new(STEPS), is_over: Cell::new(false) } };
}

/// Runs a check with a deadline. Returns `None` if the deadline passed, because the verdict is then wrong.
///
/// A check of few steps never reads the clock, so it returns its verdict even after the deadline.
pub(crate) fn with_deadline<T>(deadline: Instant, check: impl FnOnce() -> T) -> Option<T> {
    // A guard, so that a panic does not leave a deadline behind for the thread's next check.
    let _restore = CLOCK.with(|clock| {
        clock.steps.set(STEPS);
        RestoreClock {
            deadline: clock.deadline.replace(Some(deadline)),
            is_over: clock.is_over.replace(false),
        }
    });
    let verdict = check();
    (!CLOCK.with(|clock| clock.is_over.get())).then_some(verdict)
}

/// Restores the clock of the enclosing check on drop.
struct RestoreClock {
    deadline: Option<Instant>,
    is_over: bool,
}

impl Drop for RestoreClock {
    fn drop(&mut self) {
        CLOCK.with(|clock| {
            clock.deadline.set(self.deadline);
            clock.is_over.set(self.is_over);
        });
    }
}

/// Counts a step of a check. Returns true if the deadline has passed.
#[inline]
pub(super) fn has_passed() -> bool {
    CLOCK.with(|clock| {
        let left = clock.steps.get() - 1;
        // Reading the clock costs more than most steps.
        if left > 0 {
            clock.steps.set(left);
        } else {
            look(clock);
        }
        clock.is_over.get()
    })
}

/// Counts a long step, such as copying a value. Returns true if the deadline has passed.
pub(super) fn has_passed_at_long_step() -> bool {
    CLOCK.with(|clock| {
        look(clock);
        clock.is_over.get()
    })
}

/// Returns the remaining time, or `None` if the check has no deadline.
pub(super) fn time_left() -> Option<Duration> {
    let deadline = CLOCK.with(|clock| clock.deadline.get())?;
    Some(deadline.saturating_duration_since(Instant::now()))
}

/// Ends the check as if its deadline had passed.
pub(super) fn pass() {
    CLOCK.with(|clock| clock.is_over.set(true));
}

#[cold]
fn look(clock: &Clock) {
    clock.steps.set(STEPS);
    if clock
        .deadline
        .get()
        .is_some_and(|deadline| Instant::now() >= deadline)
    {
        clock.is_over.set(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_panics_leaves_no_deadline_behind() {
        let panics = || -> Option<()> {
            with_deadline(Instant::now(), || {
                pass();
                std::panic::resume_unwind(Box::new("a fault"))
            })
        };
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(!has_passed() && time_left().is_none());
    }
}
