//! A thread that rings at set times.
//!
//! The timers of tokio are driven by one of its workers. While a task holds that one, they can stand still, so they are no watch
//! over tasks that do not yield.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

/// One thread for the process; it is started with the first call and lives as long.
static ALARMS: Mutex<Option<Sender<Alarm>>> = Mutex::new(None);

/// From how many alarms on those that nobody waits for are looked for and dropped.
const CROWD: usize = 1024;

/// Something to be told at a time.
pub(super) struct Alarm {
    pub(super) at: Instant,
    pub(super) late: Late,
    pub(super) bell: UnboundedSender<Late>,
}

/// A call that should be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Late {
    /// Which of its turn.
    pub(super) position: usize,
    /// How long it was allowed to take.
    pub(super) limit: Duration,
}

/// Where alarms are set.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn alarms() -> io::Result<Sender<Alarm>> {
    let mut alarms = ALARMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(alarms) = &*alarms {
        return Ok(alarms.clone());
    }
    let (sender, receiver) = channel();
    std::thread::Builder::new().name("toolcrib-alarm".to_owned()).spawn(move || keep(&receiver))?;
    Ok(alarms.insert(sender).clone())
}

fn keep(alarms: &Receiver<Alarm>) {
    let mut set: BTreeMap<(Instant, u64), Alarm> = BTreeMap::new();
    let (mut number, mut crowd) = (0_u64, CROWD);
    loop {
        let received = match set.first_key_value() {
            Some(((at, _), _)) => alarms.recv_timeout(at.saturating_duration_since(Instant::now())),
            None => alarms.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(alarm) => {
                set.insert((alarm.at, number), alarm);
                number += 1;
                if set.len() >= crowd {
                    set.retain(|_, alarm| !alarm.bell.is_closed());
                    crowd = CROWD.max(2 * set.len());
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        while let Some(first) = set.first_entry().filter(|first| first.key().0 <= now) {
            let Alarm { late, bell, .. } = first.remove();
            // The turn may be over.
            let _ = bell.send(late);
        }
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
        for after in [60, 20, 40, 0] {
            let limit = Duration::from_millis(after);
            let alarm = Alarm { at: begun + limit, late: Late { position: 0, limit }, bell: bell.clone() };
            alarms().unwrap().send(alarm).unwrap();
        }
        for after in [0, 20, 40, 60] {
            let limit = Duration::from_millis(after);
            assert_eq!(rung.recv().await, Some(Late { position: 0, limit }));
            assert!(begun.elapsed() >= limit);
        }
    }

    #[tokio::test]
    async fn alarms_that_nobody_waits_for_do_not_pile_up() {
        let (sender, receiver) = channel();
        let keeper = std::thread::spawn(move || keep(&receiver));
        let far = Instant::now() + Duration::from_secs(3600);
        let late = Late { position: 0, limit: Duration::ZERO };
        let (bell, heard) = unbounded_channel();
        drop(heard);
        for _ in 0..10 * CROWD {
            sender.send(Alarm { at: far, late, bell: bell.clone() }).unwrap();
        }
        let (last, mut rung) = unbounded_channel();
        sender.send(Alarm { at: Instant::now(), late, bell: last }).unwrap();
        assert_eq!(rung.recv().await, Some(late));
        // Each alarm holds a sender; those that were dropped do not.
        assert!(bell.strong_count() <= CROWD + 1, "{}", bell.strong_count());
        drop(sender);
        // It still waits for what is left; the end of its senders ends it.
        keeper.join().unwrap();
    }
}
