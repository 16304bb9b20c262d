//! [`JobServer`]: runs the jobs that are due.

use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::CronError;
use crate::job::{DueRun, RunEnd};
use crate::jobs::{Claim, Jobs};
use crate::lock::JobLock;
use crate::watch::Watch;

/// The longest wait, after which the server looks for jobs that other processes have added, and at the clock.
const POLL: Duration = Duration::from_secs(2);

/// The clock of a server.
pub trait Clock: Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Waits.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// The clock of the machine. A wait does not count the time for which the machine is suspended.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

/// Runs the jobs of a workspace that are due, one after the other. Any number of servers, also in other processes, share the work.
///
/// - A run begins after its record is committed. A job runs at most once at a time, because its process holds a lock meanwhile.
/// - A run that is due while its job runs begins after it. Several such runs are one.
#[derive(Debug)]
pub struct JobServer<'a, C = SystemClock> {
    jobs: &'a Jobs,
    clock: C,
    poll: Duration,
    watch: Watch,
}

/// The result of one look at the jobs.
#[derive(Debug, Default)]
struct Pass {
    runs: usize,
    /// True if another process runs a job.
    is_shared: bool,
}

impl<'a> JobServer<'a> {
    /// Creates a server with the clock of the machine.
    pub fn new(jobs: &'a Jobs) -> Self {
        Self::with_clock(jobs, SystemClock)
    }
}

impl<'a, C: Clock> JobServer<'a, C> {
    /// Creates a server with another clock.
    pub fn with_clock(jobs: &'a Jobs, clock: C) -> Self {
        let watch = Watch::new(clock.now());
        Self { jobs, clock, poll: POLL, watch }
    }

    /// Sets the longest wait, after which the server looks for jobs that other processes have added. The default is 2 s.
    #[must_use]
    pub fn with_poll(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }

    /// Serves until the token is cancelled. `run` does the work of a run, and ends it early if the token is cancelled.
    ///
    /// # Errors
    /// Returns an error if the store or a lock cannot be used.
    pub async fn serve(
        &mut self,
        token: &CancellationToken,
        mut run: impl AsyncFnMut(&DueRun) -> RunEnd,
    ) -> Result<(), CronError> {
        while !token.is_cancelled() {
            let pass = self.pass(token, &mut run).await?;
            let now = self.clock.now();
            let left = self.jobs.next().await?.map(|next| next.duration_since(now));
            let left = left.map(|left| Duration::try_from(left).unwrap_or_default());
            // A job that another process runs may be due.
            let least = if pass.is_shared { self.poll } else { Duration::ZERO };
            let wait = left.map_or(self.poll, |left| left.clamp(least, self.poll));
            self.watch.wait_until(now.saturating_add(wait).unwrap_or(now));
            token.run_until_cancelled(self.clock.sleep(wait)).await;
            self.watch.wake(self.clock.now());
        }
        Ok(())
    }

    /// Runs the jobs that are due now. Returns the number of runs.
    ///
    /// # Errors
    /// Returns an error if the store or a lock cannot be used.
    pub async fn serve_due(
        &mut self,
        token: &CancellationToken,
        run: &mut impl AsyncFnMut(&DueRun) -> RunEnd,
    ) -> Result<usize, CronError> {
        Ok(self.pass(token, run).await?.runs)
    }

    async fn pass(
        &mut self,
        token: &CancellationToken,
        run: &mut impl AsyncFnMut(&DueRun) -> RunEnd,
    ) -> Result<Pass, CronError> {
        let mut pass = Pass::default();
        for id in self.jobs.pending(self.clock.now()).await? {
            if token.is_cancelled() {
                break;
            }
            let Some(lock) = self.jobs.lock(id)? else {
                pass.is_shared = true;
                continue;
            };
            let claim = match self.jobs.claim(id, self.clock.now(), self.watch.since()).await {
                // The others are served all the same.
                Err(error @ (CronError::Unreadable { .. } | CronError::Zone(_))) => {
                    self.jobs.suspend(id, error.to_string(), self.clock.now()).await?;
                    continue;
                }
                claim => claim?,
            };
            let is_kept = match claim {
                Claim::Run(due) => {
                    pass.runs += 1;
                    let end = run(&due).await;
                    self.jobs.finish(&due, end, self.clock.now()).await?
                }
                Claim::Nothing => true,
                Claim::Gone => false,
            };
            if !is_kept {
                lock.into_iter().for_each(JobLock::remove);
            }
        }
        // Jobs were served meanwhile.
        self.watch.wait_until(self.clock.now());
        Ok(pass)
    }
}
