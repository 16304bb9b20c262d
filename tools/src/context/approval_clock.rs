//! [`ApprovalClock`]: measures the time that a call waits for approvals.

use std::time::{Duration, Instant};

use super::ToolContext;
use crate::sync::{Mutex, lock};

/// Measures the time that a call and its nested calls wait for approvals. Overlapping waits count once.
///
/// A driver subtracts it from the duration of the call, so that durations do not depend on how fast a person answers.
#[derive(Debug, Default)]
pub struct ApprovalClock(Mutex<Waits>);

#[derive(Debug, Default)]
struct Waits {
    open: usize,
    /// The start of the open waits.
    since: Option<Instant>,
    ended: Duration,
}

/// A wait for an approval, until it is dropped.
pub(crate) struct OpenWait<'a>(&'a ApprovalClock);

impl ApprovalClock {
    /// Returns the time waited so far, open waits included.
    pub fn waited(&self) -> Duration {
        let waits = lock(&self.0);
        waits.ended + waits.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    fn start(&self) -> OpenWait<'_> {
        let mut waits = lock(&self.0);
        waits.open += 1;
        waits.since.get_or_insert_with(Instant::now);
        OpenWait(self)
    }
}

impl Drop for OpenWait<'_> {
    fn drop(&mut self) {
        let mut waits = lock(&self.0.0);
        waits.open -= 1;
        if waits.open == 0
            && let Some(since) = waits.since.take()
        {
            waits.ended += since.elapsed();
        }
    }
}

impl ToolContext {
    /// Starts a wait on the clock of the call. Returns `None` if the call has no clock.
    pub(crate) fn approval_wait(&self) -> Option<OpenWait<'_>> {
        self.facts.approval_clock.as_deref().map(ApprovalClock::start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_waits_count_once_and_only_while_one_is_open() {
        let clock = ApprovalClock::default();
        let begun = Instant::now();
        let (one, other) = (clock.start(), clock.start());
        std::thread::sleep(Duration::from_millis(20));
        drop(one);
        assert!(clock.waited() >= Duration::from_millis(20), "the other wait is open");
        drop(other);
        let waited = clock.waited();
        assert!(waited >= Duration::from_millis(20) && waited <= begun.elapsed());
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(clock.waited(), waited);
    }
}
