//! [`PersonClock`]: measures the time that a call waits for a person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::sync::{Mutex, lock};

/// Measures the time that a call and its nested calls wait for a person: for approvals and for answers to questions. Overlapping waits
/// count once.
///
/// A driver subtracts it from the duration of the call, so that durations do not depend on how fast a person answers.
#[derive(Debug, Default)]
pub struct PersonClock(Mutex<Waits>);

#[derive(Debug, Default)]
struct Waits {
    open: usize,
    /// The start of the open waits.
    since: Option<Instant>,
    ended: Duration,
}

/// A wait for a person, until it is dropped.
pub(super) struct PersonWait(Arc<PersonClock>);

impl PersonClock {
    /// Returns the time waited so far, open waits included.
    pub fn waited(&self) -> Duration {
        let waits = lock(&self.0);
        waits.ended + waits.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    pub(super) fn start(self: &Arc<Self>) -> PersonWait {
        let mut waits = lock(&self.0);
        waits.open += 1;
        waits.since.get_or_insert_with(Instant::now);
        PersonWait(self.clone())
    }
}

impl Drop for PersonWait {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_waits_count_once_and_only_while_one_is_open() {
        let clock = Arc::new(PersonClock::default());
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
