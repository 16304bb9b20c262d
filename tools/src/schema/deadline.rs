//! The deadline of a check.
//!
//! A check runs on the caller's thread without a pause, so no timer can end it. Instead the validator's own steps look at the
//! clock: once the deadline has passed, [`Instance`](super::instance::Instance) shows it nothing more of the value, and it comes
//! to an end within one look at the schema.

use std::cell::Cell;
use std::time::Duration;

use tokio::time::Instant;

/// How many steps pass between two looks at the clock: about 50 µs.
const STEPS: u32 = 1024;

struct Clock {
    deadline: Cell<Option<Instant>>,
    /// How many steps are left until the next look.
    steps: Cell<u32>,
    is_over: Cell<bool>,
}

thread_local! {
    static CLOCK: Clock =
        const { Clock { deadline: Cell::new(None), steps: Cell::new(STEPS), is_over: Cell::new(false) } };
}

/// Runs a check that has to end by the deadline. Returns `None` if it did not: its verdict means nothing then. A check of few steps
/// never looks at the clock, so it has a verdict also where there is no time.
pub(crate) fn within<T>(deadline: Instant, check: impl FnOnce() -> T) -> Option<T> {
    // Dropped also where the check panics: the next one on this thread begins with a clock of its own.
    let _outer = CLOCK.with(|clock| {
        clock.steps.set(STEPS);
        Outer { deadline: clock.deadline.replace(Some(deadline)), is_over: clock.is_over.replace(false) }
    });
    let verdict = check();
    (!CLOCK.with(|clock| clock.is_over.get())).then_some(verdict)
}

/// The state of the check around one, which it gets back.
struct Outer {
    deadline: Option<Instant>,
    is_over: bool,
}

impl Drop for Outer {
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
        if left > 0 {
            clock.steps.set(left);
        } else {
            look(clock);
        }
        clock.is_over.get()
    })
}

/// Counts a step that takes long, as one that copies a value does. Returns true if the deadline has passed.
pub(super) fn has_passed_at_long_step() -> bool {
    CLOCK.with(|clock| {
        look(clock);
        clock.is_over.get()
    })
}

/// Returns the time that is left, or `None` if the check has no deadline.
pub(super) fn left() -> Option<Duration> {
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
    if clock.deadline.get().is_some_and(|deadline| Instant::now() >= deadline) {
        clock.is_over.set(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_panics_leaves_no_deadline_behind() {
        let panics = || -> Option<()> {
            within(Instant::now(), || {
                pass();
                std::panic::resume_unwind(Box::new("a fault"))
            })
        };
        assert!(std::panic::catch_unwind(panics).is_err());
        assert!(!has_passed() && left().is_none());
    }
}
