//! [`PersonClock`]: measures the time that a call waits for a person.

use std::future::poll_fn;
use std::iter::successors;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use crate::sync::{Mutex, lock};

/// Measures the time that a call and its nested calls wait for a person: for approvals and for answers to questions. Overlapping waits
/// count once.
///
/// A driver subtracts it from the duration of the call, and from the time of the run, so that neither depends on how fast a person
/// answers.
#[derive(Debug, Default)]
pub struct PersonClock {
    outer: Option<Arc<Self>>,
    waits: Mutex<Waits>,
}

#[derive(Debug, Default)]
struct Waits {
    open: usize,
    /// The start of the open waits.
    since: Option<Instant>,
    ended: Duration,
    /// The tasks that wait until no wait is open.
    wakers: Vec<Waker>,
}

/// A wait for a person, until it is dropped.
pub(super) struct PersonWait(Arc<PersonClock>);

impl PersonClock {
    /// Sets a clock that also measures the waits of this one, such as that of a run whose calls have clocks of their own.
    #[must_use]
    pub fn with_outer(mut self, outer: Arc<Self>) -> Self {
        self.outer = Some(outer);
        self
    }

    /// Returns the time waited so far, open waits included.
    pub fn total(&self) -> Duration {
        let waits = lock(&self.waits);
        waits.ended + waits.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Waits until no wait is open.
    pub async fn until_idle(&self) {
        poll_fn(|task| {
            let mut waits = lock(&self.waits);
            if waits.open == 0 {
                return Poll::Ready(());
            }
            if !waits
                .wakers
                .iter()
                // A task may poll this often while one question is open, and would add a waker each time.
                .any(|waker| waker.will_wake(task.waker()))
            {
                waits.wakers.push(task.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    pub(super) fn start(self: &Arc<Self>) -> PersonWait {
        for clock in self.chain() {
            let mut waits = lock(&clock.waits);
            waits.open += 1;
            waits.since.get_or_insert_with(Instant::now);
        }
        PersonWait(self.clone())
    }

    fn end(&self) {
        let mut waits = lock(&self.waits);
        waits.open -= 1;
        if waits.open > 0 {
            return;
        }
        let waited = waits.since.take().map(|since| since.elapsed());
        waits.ended += waited.unwrap_or_default();
        let wakers = std::mem::take(&mut waits.wakers);
        // A waker runs foreign code, which may read this clock.
        drop(waits);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns this clock and its outer ones, from the inside out.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        successors(Some(self), |clock| clock.outer.as_deref())
    }
}

impl Drop for PersonWait {
    fn drop(&mut self) {
        self.0.chain().for_each(PersonClock::end);
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
        assert!(
            clock.total() >= Duration::from_millis(20),
            "the other wait is open"
        );
        drop(other);
        let waited = clock.total();
        assert!(waited >= Duration::from_millis(20) && waited <= begun.elapsed());
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(clock.total(), waited);
    }

    #[tokio::test(start_paused = true)]
    async fn an_outer_clock_measures_the_waits_of_all_inner_ones_and_is_idle_after_the_last() {
        const STEP: Duration = Duration::from_secs(1);
        let outer = Arc::new(PersonClock::default());
        let [one, other] =
            [(); 2].map(|()| Arc::new(PersonClock::default().with_outer(outer.clone())));
        outer.until_idle().await;
        let waits = [one.start(), other.start()];
        let begun = Instant::now();
        let ends = async {
            for wait in waits {
                tokio::time::sleep(STEP).await;
                drop(wait);
            }
        };
        let idle = async {
            outer.until_idle().await;
            begun.elapsed()
        };
        assert_eq!(tokio::join!(ends, idle).1, STEP * 2);
        tokio::time::sleep(STEP).await;
        assert_eq!(
            [&one, &other, &outer].map(|clock| clock.total()),
            [STEP, STEP * 2, STEP * 2]
        );
    }
}
