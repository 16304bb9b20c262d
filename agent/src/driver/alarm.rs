//! [`Alarms`]: a timer thread outside tokio.
//!
//! A tokio worker drives tokio's timers. They can stop while a task blocks that worker, so they cannot watch tasks that do not
//! yield.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;
use tools::IgnorePoison as _;

/// The alarms of the process.
static ALARMS: Alarms = Alarms::new();

/// The pending alarms and their thread, which starts with the first run and lives as long as the process.
pub(super) struct Alarms {
    state: Mutex<AlarmState>,
    changed: Condvar,
}

struct AlarmState {
    pending: BTreeMap<(Instant, u64), (UnboundedSender<Overdue>, Overdue)>,
    next_id: u64,
    has_thread: bool,
    /// The time at which the thread wakes up by itself. `None` if no alarm is pending.
    wakes_at: Option<Instant>,
}

/// A pending alarm. Dropping it cancels the alarm.
#[must_use = "dropping an alarm cancels it"]
pub(super) struct Alarm {
    alarms: &'static Alarms,
    key: (Instant, u64),
}

/// A notice that a call should have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overdue {
    /// The number of its [`GatedCall`](super::worker_gate::GatedCall). `None` means all calls of the turn.
    pub(super) call: Option<u64>,
    /// The time limit of the call.
    pub(super) limit: Duration,
}

/// Returns the alarms of the process, and starts their thread if necessary.
///
/// # Errors
/// Returns an error if the thread cannot be started.
pub(super) fn alarms() -> io::Result<&'static Alarms> {
    let mut state = ALARMS.lock();
    if !state.has_thread {
        std::thread::Builder::new()
            .name("toolcrib-alarm".to_owned())
            .spawn(|| ALARMS.run())?;
        state.has_thread = true;
    }
    Ok(&ALARMS)
}

impl Alarms {
    const fn new() -> Self {
        let state = AlarmState {
            pending: BTreeMap::new(),
            next_id: 0,
            has_thread: false,
            wakes_at: None,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Sets an alarm, which sends `overdue` to `sender` at that time.
    pub(super) fn set(
        &'static self,
        at: Instant,
        sender: UnboundedSender<Overdue>,
        overdue: Overdue,
    ) -> Alarm {
        let mut state = self.lock();
        let key = (at, state.next_id);
        state.next_id += 1;
        state.pending.insert(key, (sender, overdue));
        // Most alarms are later than the next one, and need no wake-up.
        if state.wakes_at.is_none_or(|wakes_at| at < wakes_at) {
            self.changed.notify_one();
        }
        Alarm { alarms: self, key }
    }

    /// Sends the notice of each alarm at its time. Never returns.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let later = state.pending.split_off(&(now, u64::MAX));
            let due = std::mem::replace(&mut state.pending, later);
            if !due.is_empty() {
                // Sending wakes tasks by foreign code, which must not run under the lock.
                drop(state);
                for (sender, overdue) in due.into_values() {
                    // The run may have ended.
                    let _ = sender.send(overdue);
                }
                state = self.lock();
                continue;
            }
            state.wakes_at = state.pending.first_key_value().map(|((at, _), _)| *at);
            let left = state
                .wakes_at
                .map_or(Duration::MAX, |at| at.saturating_duration_since(now));
            state = self.changed.wait_timeout(state, left).ignore_poison().0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, AlarmState> {
        self.state.lock().ignore_poison()
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let removed = self.alarms.lock().pending.remove(&self.key);
        // Dropped after the lock is released.
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn alarms_fire_in_the_order_of_their_times_and_not_before() {
        let (sender, mut receiver) = unbounded_channel();
        let begun = Instant::now();
        let set = [60, 20, 40, 0].map(|after| {
            let limit = Duration::from_millis(after);
            alarms()
                .unwrap()
                .set(begun + limit, sender.clone(), Overdue { call: None, limit })
        });
        for after in [0, 20, 40, 60] {
            let limit = Duration::from_millis(after);
            assert_eq!(receiver.recv().await, Some(Overdue { call: None, limit }));
            assert!(begun.elapsed() >= limit);
        }
        drop(set);
    }

    #[tokio::test]
    async fn a_dropped_alarm_is_no_longer_pending() {
        let (sender, _receiver) = unbounded_channel();
        let far = Instant::now() + Duration::from_secs(3600);
        let overdue = Overdue {
            call: None,
            limit: Duration::ZERO,
        };
        let alarm = alarms().unwrap().set(far, sender.clone(), overdue);
        let key = alarm.key;
        assert!(ALARMS.lock().pending.contains_key(&key));
        drop(alarm);
        assert!(!ALARMS.lock().pending.contains_key(&key));
        assert_eq!(sender.strong_count(), 1);
    }
}
