//! Jobs and a clock for tests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tools::Grant;
use tools_cron::{Clock, Delivery, JobSpec, Missed, Schedule, Work};

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn cron(expression: &str) -> Schedule {
    Schedule::Cron(expression.parse().unwrap())
}

pub(crate) fn spec(schedule: Schedule, zone: &str) -> JobSpec {
    JobSpec {
        schedule,
        zone: zone.to_owned(),
        work: Work::Prompt("work".to_owned()),
        missed: Missed::Skip,
        delivery: Delivery::AtMostOnce,
        grant: Grant::none(),
        tools: Vec::new(),
        principal: None,
        exposed: false,
    }
}

/// A clock that a wait turns on. At its end it cancels the token.
#[derive(Clone)]
pub(crate) struct TurnedClock {
    now: Arc<Mutex<Timestamp>>,
    end: Timestamp,
    pub(crate) token: CancellationToken,
}

impl TurnedClock {
    pub(crate) fn new(now: &str, end: &str) -> Self {
        Self { now: Arc::new(Mutex::new(time(now))), end: time(end), token: CancellationToken::new() }
    }

    pub(crate) fn set(&self, now: Timestamp) {
        *self.now.lock().unwrap() = now;
        if now >= self.end {
            self.token.cancel();
        }
    }

    pub(crate) fn turn(&self, time: Duration) {
        self.set(self.now() + time);
    }
}

impl Clock for TurnedClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    async fn sleep(&self, time: Duration) {
        self.turn(time);
    }
}
