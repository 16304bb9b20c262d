//! Jobs and a clock for tests.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tools::Grant;
use tools_cron::{
    Clock, Delivery, JobServer, JobSpec, Jobs, Missed, Outcome, RunEnd, Schedule, Work,
};

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
        rules: Vec::new(),
        paths: Vec::new(),
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
        Self {
            now: Arc::new(Mutex::new(time(now))),
            end: time(end),
            token: CancellationToken::new(),
        }
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

/// A clock that follows the paused time of tokio.
#[derive(Clone, Copy)]
pub(crate) struct TokioClock {
    start: Timestamp,
    since: tokio::time::Instant,
}

impl TokioClock {
    pub(crate) fn new(now: &str) -> Self {
        Self {
            start: time(now),
            since: tokio::time::Instant::now(),
        }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.start + self.since.elapsed()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

pub(crate) fn done() -> RunEnd {
    RunEnd {
        outcome: Outcome::Done,
        note: None,
    }
}

pub(crate) fn hourly() -> JobSpec {
    spec(cron("0 * * * *"), "UTC")
}

/// Opens the store of a folder, as another process would.
pub(crate) fn opened(folder: &Path) -> Jobs {
    Jobs::new(folder.join("cron.sqlite"), "here")
}

/// Serves what is due, as a new process would. Returns the jobs that ran.
pub(crate) async fn served_once(jobs: &Jobs, now: &str) -> Vec<i64> {
    let clock = TurnedClock::new(now, "2030-01-01T00:00:00Z");
    let mut runs = Vec::new();
    let mut server = JobServer::with_clock(jobs, clock);
    let mut run = async |run: &tools_cron::DueRun| {
        runs.push(run.job.id);
        done()
    };
    server
        .serve_due(&CancellationToken::new(), &mut run)
        .await
        .unwrap();
    runs
}

/// Returns the outcomes of the log, the oldest run first.
pub(crate) async fn outcomes(jobs: &Jobs) -> Vec<Outcome> {
    let mut log = jobs.log(None, 100).await.unwrap();
    log.reverse();
    log.iter().map(|run| run.outcome).collect()
}

pub(crate) fn once(at: &str) -> JobSpec {
    spec(Schedule::Once(time(at)), "UTC")
}

/// Serves once in a process that dies in the run. Dropping the server releases its locks, as the end of a process does.
pub(crate) async fn cut_off(jobs: Jobs, now: &str) {
    let clock = TurnedClock::new(now, "2030-01-01T00:00:00Z");
    let token = CancellationToken::new();
    let mut server = JobServer::with_clock(&jobs, clock);
    let mut run = async |_: &tools_cron::DueRun| std::future::pending().await;
    let serving = server.serve_due(&token, &mut run);
    assert!(
        tokio::time::timeout(Duration::from_millis(300), serving)
            .await
            .is_err(),
        "the run began"
    );
}

/// Replaces a text in the stored jobs, as a newer version might write them.
pub(crate) fn replace_in_specs(folder: &Path, from: &str, to: &str) {
    let store = rusqlite::Connection::open(folder.join("cron.sqlite")).unwrap();
    store
        .execute("UPDATE job SET spec = replace(spec, ?, ?)", [from, to])
        .unwrap();
}
