//! [`JobServer`]: runs the jobs that are due.

use std::future::{Future, Ready, poll_fn, ready};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::claim::Claim;
use crate::error::CronError;
use crate::job::{DueRun, Job, RunEnd};
use crate::jobs::{Jobs, Look};
use crate::lock::JobLock;
use crate::service::{ABSENCE, ABSENCE_OF_ONCE, Presence};

/// The longest wait, after which the server looks for jobs that other processes have added, and at the clock.
pub(crate) const POLL: Duration = Duration::from_secs(2);

/// The pause between two notes that a server is there, while it runs a job.
const ATTENDANCE: Duration = Duration::from_secs(20);

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
pub struct JobServer<'a, C = SystemClock, K = Unchecked> {
    /// The jobs.
    pub jobs: &'a Jobs,
    /// The clock.
    pub clock: C,
    /// The longest wait, after which the server looks for jobs that other processes have added. A wait of over a minute is an absence.
    pub poll: Duration,
    /// The check of a due job before a run of it begins. If it returns false, the server ends, and the run stays due.
    pub check: K,
}

/// The check of a server that takes every job.
type Unchecked = fn(&Job) -> Ready<bool>;

/// The result of serving the jobs that are due.
#[derive(Debug, Default)]
pub struct Served {
    /// The number of runs.
    pub runs: usize,
    /// The number of jobs that cannot be read. They are paused, and the log has the reasons.
    pub unreadable: usize,
    /// True if a job was settled, so that another look may find more.
    is_changed: bool,
    /// True if the check refused a job, which ends the server.
    is_refused: bool,
}

impl<'a, C: Clock> JobServer<'a, C> {
    /// Creates a server that takes every job, and waits at most 2 s.
    pub fn with_clock(jobs: &'a Jobs, clock: C) -> Self {
        Self {
            jobs,
            clock,
            poll: POLL,
            check: |_| ready(true),
        }
    }
}

impl<C: Clock, K: AsyncFnMut(&Job) -> bool> JobServer<'_, C, K> {
    /// Serves until the token is cancelled, or the check refuses a job. `run` does the work of a run, and ends it early if the token is cancelled.
    ///
    /// # Errors
    /// Returns an error if the store or a lock cannot be used.
    pub async fn serve(
        &mut self,
        token: &CancellationToken,
        mut run: impl AsyncFnMut(&DueRun) -> RunEnd,
    ) -> Result<(), CronError> {
        self.jobs.remove_left_locks().await?;
        while !token.is_cancelled() {
            let look = self.jobs.look(self.presence(ABSENCE)).await?;
            let next = look.next;
            let served = self.pass(look, ABSENCE, token, &mut run).await?;
            if served.is_refused {
                break;
            }
            if served.is_changed {
                continue;
            }
            let now = self.clock.now();
            let left =
                |next: Timestamp| Duration::try_from(next.duration_since(now)).unwrap_or_default();
            let wait = next.map_or(self.poll, |next| left(next).min(self.poll));
            token.run_until_cancelled(self.clock.sleep(wait)).await;
        }
        Ok(())
    }

    /// Runs the jobs that are due now. Calls that follow each other within two hours, also of other processes, serve without a pause.
    ///
    /// # Errors
    /// Returns an error if the store or a lock cannot be used.
    pub async fn serve_due(
        &mut self,
        token: &CancellationToken,
        run: &mut impl AsyncFnMut(&DueRun) -> RunEnd,
    ) -> Result<Served, CronError> {
        self.jobs.remove_left_locks().await?;
        let look = self.jobs.look(self.presence(ABSENCE_OF_ONCE)).await?;
        self.pass(look, ABSENCE_OF_ONCE, token, run).await
    }

    fn presence(&self, absence: i64) -> Presence {
        Presence {
            now: self.clock.now(),
            absence,
        }
    }

    /// Waits for a run. Meanwhile the store learns that this server is there.
    async fn attend_run(&self, absence: i64, run: impl Future<Output = RunEnd>) -> RunEnd {
        let attend = async {
            loop {
                // The next look reports a store that cannot be written.
                let _ = self.jobs.attend(self.presence(absence)).await;
                tokio::time::sleep(ATTENDANCE).await;
            }
        };
        let mut run = pin!(run);
        let mut attend = pin!(attend);
        poll_fn(|cx| {
            let end = run.as_mut().poll(cx);
            if end.is_pending() {
                let _: Poll<()> = attend.as_mut().poll(cx);
            }
            end
        })
        .await
    }

    async fn pass(
        &mut self,
        look: Look,
        absence: i64,
        token: &CancellationToken,
        run: &mut impl AsyncFnMut(&DueRun) -> RunEnd,
    ) -> Result<Served, CronError> {
        let mut served = Served::default();
        for id in look.pending {
            if token.is_cancelled() {
                break;
            }
            // Else another process runs it.
            let Some(lock) = self.jobs.lock(id)? else {
                continue;
            };
            if let Some(job) = self.jobs.find_due(id, self.clock.now()).await?
                && !(self.check)(&job).await
            {
                served.is_refused = true;
                break;
            }
            served.is_changed = true;
            let claim = match self.jobs.claim(id, self.clock.now(), look.since).await {
                // The others are served all the same.
                Err(CronError::Unreadable(error)) => {
                    served.unreadable += 1;
                    self.jobs
                        .suspend(id, error.to_string(), self.clock.now())
                        .await?;
                    continue;
                }
                claim => claim?,
            };
            let is_kept = match claim {
                Claim::Run(due) => {
                    served.runs += 1;
                    let end = self.attend_run(absence, run(&due)).await;
                    self.jobs.finish(&due, end, self.clock.now()).await?
                }
                Claim::Nothing => true,
                Claim::Gone => false,
            };
            if !is_kept {
                lock.into_iter().for_each(JobLock::remove);
            }
        }
        Ok(served)
    }
}
