//! [`Alarms`]: a thread that rings at set times.
//!
//! The timers of tokio are driven by one of its workers. While a task holds that one, they can stand still, so they are no watch
//! over tasks that do not yield.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

/// The alarms of the process.
static ALARMS: Alarms = Alarms::new();

/// Alarms, and the thread that rings them. It is started with the first run, and lives as long as the process.
pub(super) struct Alarms {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    set: BTreeMap<(Instant, u64), (UnboundedSender<Late>, Late)>,
    next: u64,
    has_thread: bool,
    /// When the thread looks next if nobody wakes it. `None` if it waits for an alarm.
    looks_at: Option<Instant>,
}

/// An alarm that is set. Dropping it takes it back.
#[must_use = "an alarm that is dropped does not ring"]
pub(super) struct Alarm {
    alarms: &'static Alarms,
    key: (Instant, u64),
}

/// A call that should be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// The number of its [`Pass`](super::gate::Pass). `None` stands for all calls of the turn.
    pub(super) call: Option<u64>,
    /// How long it was allowed to take.
    pub(super) limit: Duration,
}

/// Returns the alarms of the process, with their thread.
///
/// # Errors
/// Returns an error if the system gives no thread.
pub(super) fn alarms() -> io::Result<&'static Alarms> {
    let mut state = ALARMS.lock();
    if !state.has_thread {
        std::thread::Builder::new().name("toolcrib-alarm".to_owned()).spawn(|| ALARMS.keep())?;
        state.has_thread = true;
    }
    Ok(&ALARMS)
}

impl Alarms {
    const fn new() -> Self {
        let state = State { set: BTreeMap::new(), next: 0, has_thread: false, looks_at: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Sets an alarm: at that moment `late` is sent to `bell`.
    pub(super) fn set(&'static self, at: Instant, bell: UnboundedSender<Late>, late: Late) -> Alarm {
        let mut state = self.lock();
        let key = (at, state.next);
        state.next += 1;
        state.set.insert(key, (bell, late));
        if state.looks_at.is_none_or(|looks_at| at < looks_at) {
            self.changed.notify_one();
        }
        Alarm { alarms: self, key }
    }

    /// Rings each alarm in time, without end.
    fn keep(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let later = state.set.split_off(&(now, u64::MAX));
            let due = std::mem::replace(&mut state.set, later);
            if !due.is_empty() {
                // Whoever waits is woken by code that is not ours.
                drop(state);
                for (bell, late) in due.into_values() {
                    // The run may be over.
                    let _ = bell.send(late);
                }
                state = self.lock();
                continue;
            }
            state.looks_at = state.set.first_key_value().map(|((at, _), _)| *at);
            let left = state.looks_at.map_or(Duration::MAX, |at| at.saturating_duration_since(now));
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let taken = self.alarms.lock().set.remove(&self.key);
        // The bell is dropped after the lock is released.
        drop(taken);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn alarms_ring_in_the_order_of_their_times_and_not_before() {
        let (bell, mut rung) = unbounded_channel();
        let begun = Instant::now();
        let set = [60, 20, 40, 0].map(|after| {
            let limit = Duration::from_millis(after);
            alarms().unwrap().set(begun + limit, bell.clone(), Late { call: None, limit })
        });
        for after in [0, 20, 40, 60] {
            let limit = Duration::from_millis(after);
            assert_eq!(rung.recv().await, Some(Late { call: None, limit }));
            assert!(begun.elapsed() >= limit);
        }
        drop(set);
    }

    #[tokio::test]
    async fn an_alarm_that_is_dropped_does_not_ring_and_leaves_nothing() {
        let (bell, mut rung) = unbounded_channel();
        let [soon, later] = [0, 20].map(Duration::from_millis);
        let late = Late { call: None, limit: later };
        let begun = Instant::now();
        let far = begun + Duration::from_secs(3600);
        (0..1000).for_each(|_| drop(alarms().unwrap().set(far, bell.clone(), Late { call: None, limit: soon })));
        drop(alarms().unwrap().set(begun + soon.max(Duration::from_millis(10)), bell.clone(), late));
        let last = alarms().unwrap().set(begun + later, bell.clone(), Late { call: Some(1), limit: later });
        assert_eq!(rung.recv().await, Some(Late { call: Some(1), limit: later }));
        drop(last);
        assert_eq!(bell.strong_count(), 1);
    }
}
