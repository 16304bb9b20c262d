//! [`Jobs`]: the jobs of a workspace.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Transaction;
use tools_store::{Durability, Store, StoreError};

use crate::job::{Delivery, DueRun, Job, JobSpec, Missed, Outcome, RunEnd, RunRecord};
use crate::lock::JobLock;
use crate::watch::LATE_SECONDS;
use crate::{CronError, Schedule, Work, row};

/// The limits of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobLimits {
    /// The maximum number of jobs of a workspace.
    pub jobs: usize,
    /// The shortest interval in seconds. A cron expression is never shorter than a minute.
    pub shortest_interval: u32,
    /// The maximum size of a prompt, or of the arguments of a call, in bytes.
    pub work_bytes: usize,
}

impl Default for JobLimits {
    /// Returns 100 jobs, 60 s, and 16 KiB.
    fn default() -> Self {
        Self { jobs: 100, shortest_interval: 60, work_bytes: 16 * 1024 }
    }
}

/// The jobs of a workspace, in a store that other workspaces and processes use too. The service of the tools `cron.*`.
///
/// The file is opened by the first use.
#[derive(Debug)]
pub struct Jobs {
    /// `None` for a store in memory.
    file: Option<PathBuf>,
    workspace: String,
    zone: String,
    limits: JobLimits,
    store: tokio::sync::OnceCell<Store>,
}

/// The result of [`Jobs::claim`].
pub(crate) enum Claim {
    /// No run begins.
    Nothing,
    /// The job is gone.
    Gone,
    /// The run begins now.
    Run(Box<DueRun>),
}

impl Jobs {
    /// Creates the service for a workspace. The file and its folder are created by the first use, for the user alone.
    pub fn new(file: impl Into<PathBuf>, workspace: impl Into<String>) -> Self {
        let (file, workspace) = (Some(file.into()), workspace.into());
        let (zone, limits) = ("UTC".to_owned(), JobLimits::default());
        Self { file, workspace, zone, limits, store: tokio::sync::OnceCell::new() }
    }

    /// Creates a service whose jobs end with it.
    ///
    /// # Errors
    /// Returns an error if SQLite cannot create the store.
    pub fn in_memory(workspace: impl Into<String>) -> Result<Self, CronError> {
        let store = Store::in_memory(&row::SCHEMA)?;
        let jobs = Self::new("", workspace);
        Ok(Self { file: None, store: tokio::sync::OnceCell::new_with(Some(store)), ..jobs })
    }

    /// Sets the time zone of a job that names none. The default is `UTC`.
    #[must_use]
    pub fn with_zone(self, zone: impl Into<String>) -> Self {
        Self { zone: zone.into(), ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: JobLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the time zone of a job that names none.
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// Checks a job against the limits, without keeping it.
    ///
    /// # Errors
    /// Returns an error if the work is too long, the interval is too short, or no run follows.
    pub fn check(&self, spec: &JobSpec, now: Timestamp) -> Result<Timestamp, CronError> {
        let (part, bytes) = match &spec.work {
            Work::Prompt(prompt) => ("prompt", prompt.len()),
            Work::Call { .. } => ("call", spec.work.to_string().len()),
        };
        if bytes > self.limits.work_bytes {
            return Err(CronError::TooLong { part, bytes, most: self.limits.work_bytes });
        }
        match spec.schedule {
            Schedule::Every { seconds, .. } if seconds < self.limits.shortest_interval => {
                return Err(CronError::TooOften { seconds, shortest: self.limits.shortest_interval });
            }
            _ => {}
        }
        let shown = |zone| now.to_zoned(zone).strftime("%Y-%m-%d %H:%M %Z").to_string();
        spec.next_after(now)?.ok_or(CronError::Never { now: shown(spec.time_zone()?) })
    }

    /// Keeps a job.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check), and an error if the workspace has too many jobs or the store cannot be written.
    pub async fn add(&self, mut spec: JobSpec, now: Timestamp) -> Result<Job, CronError> {
        spec.schedule = spec.schedule.in_seconds();
        let next = self.check(&spec, now)?;
        let (workspace, most) = (self.workspace.clone(), self.limits.jobs);
        let add = move |transaction: &Transaction<'_>| {
            if row::ids(transaction, &workspace)?.len() >= most {
                return Err(CronError::TooMany { most });
            }
            let id = row::insert(transaction, &workspace, &spec, next)?;
            Ok(Job { id, workspace, spec, next: Some(next), is_paused: false })
        };
        self.store().await?.write(add).await
    }

    /// Returns the jobs of the workspace, the oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub async fn list(&self) -> Result<Vec<Job>, CronError> {
        let workspace = self.workspace.clone();
        self.store().await?.read(move |transaction| row::jobs(transaction, Some(&workspace))).await
    }

    /// Returns the jobs of all workspaces, the oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub async fn list_all(&self) -> Result<Vec<Job>, CronError> {
        self.store().await?.read(|transaction| row::jobs(transaction, None)).await
    }

    /// Removes a job of the workspace. A run that has begun goes on. Its log is kept.
    ///
    /// # Errors
    /// Returns an error if there is no such job, or the store cannot be written.
    pub async fn remove(&self, id: i64) -> Result<(), CronError> {
        self.change(id, move |transaction| row::remove(transaction, id)).await
    }

    /// Pauses a job of the workspace, or resumes it. A run that has begun goes on.
    ///
    /// # Errors
    /// Returns an error if there is no such job, or the store cannot be written.
    pub async fn set_paused(&self, id: i64, is_paused: bool) -> Result<(), CronError> {
        self.change(id, move |transaction| row::set_paused(transaction, id, is_paused)).await
    }

    /// Returns the newest runs of a job, or of all jobs of the workspace, the newest first. A run whose process is gone is
    /// [`Outcome::CutOff`].
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub async fn log(&self, job: Option<i64>, most: u32) -> Result<Vec<RunRecord>, CronError> {
        let workspace = self.workspace.clone();
        let mut runs =
            self.store().await?.read(move |transaction| row::runs(transaction, &workspace, job, most)).await?;
        for run in runs.iter_mut().filter(|run| run.outcome == Outcome::Running) {
            if self.lock(run.job)?.is_some() {
                run.outcome = Outcome::CutOff;
            }
        }
        Ok(runs)
    }

    /// Records the session of a run.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub async fn set_session(&self, run: &DueRun, session: &str) -> Result<(), CronError> {
        let (id, session) = (run.id, session.to_owned());
        self.store().await?.write(move |transaction| row::set_session(transaction, id, &session)).await
    }

    /// Returns the jobs that are due or have a run without an end.
    pub(crate) async fn pending(&self, now: Timestamp) -> Result<Vec<i64>, CronError> {
        let workspace = self.workspace.clone();
        self.store().await?.read(move |transaction| row::pending(transaction, &workspace, now)).await
    }

    /// Returns the time at which the next job is due.
    pub(crate) async fn next(&self) -> Result<Option<Timestamp>, CronError> {
        let workspace = self.workspace.clone();
        self.store().await?.read(move |transaction| row::next(transaction, &workspace)).await
    }

    /// Takes the lock of a job. Returns `None` if another process has it.
    pub(crate) fn lock(&self, job: i64) -> Result<Option<Option<JobLock>>, CronError> {
        match &self.file {
            Some(file) => Ok(JobLock::take(&locks(file), job)?.map(Some)),
            None => Ok(Some(None)),
        }
    }

    /// Reports a run that was cut off, and begins the run that is due, if any. The caller has the lock of the job. `since` is the time
    /// from which on jobs have been served without a pause.
    pub(crate) async fn claim(&self, id: i64, now: Timestamp, since: Timestamp) -> Result<Claim, CronError> {
        self.store().await?.write(move |transaction| claim(transaction, id, now, since)).await
    }

    /// Pauses a job that cannot run, and says so in the log. The caller has the lock of the job.
    pub(crate) async fn suspend(&self, id: i64, note: String, now: Timestamp) -> Result<(), CronError> {
        self.store().await?.write(move |transaction| row::suspend(transaction, id, note, now)).await
    }

    /// Records the end of a run. Returns false if the job is gone. The caller has the lock of the job.
    pub(crate) async fn finish(&self, run: &DueRun, end: RunEnd, now: Timestamp) -> Result<bool, CronError> {
        let run = run.clone();
        let finish = move |transaction: &Transaction<'_>| {
            row::end_run(transaction, run.id, &end, now)?;
            let is_repeated = run.job.spec.delivery == Delivery::AtLeastOnce && end.outcome == Outcome::CutOff;
            match row::job(transaction, run.job.id)? {
                Some(job) if !is_repeated => advance(transaction, &run, job.id),
                found => Ok(found.is_some()),
            }
        };
        self.store().await?.write(finish).await
    }

    async fn change(
        &self,
        id: i64,
        change: impl FnOnce(&Transaction<'_>) -> Result<(), CronError> + Send + 'static,
    ) -> Result<(), CronError> {
        let workspace = self.workspace.clone();
        let change = move |transaction: &Transaction<'_>| {
            let jobs = row::ids(transaction, &workspace)?;
            if jobs.contains(&id) { change(transaction) } else { Err(CronError::Unknown { id, jobs }) }
        };
        self.store().await?.write(change).await
    }

    async fn store(&self) -> Result<&Store, CronError> {
        let open = || async {
            let file = self.file.clone().unwrap_or_default();
            let open = move || Store::open(&file, &row::SCHEMA, Durability::Power);
            tokio::task::spawn_blocking(open).await.map_err(|_| StoreError::Closed)?
        };
        Ok(self.store.get_or_try_init(open).await?)
    }
}

/// Returns the folder of the locks of a store.
fn locks(file: &Path) -> PathBuf {
    file.with_extension("locks")
}

fn claim(transaction: &Transaction<'_>, id: i64, now: Timestamp, since: Timestamp) -> Result<Claim, CronError> {
    let Some(job) = row::job(transaction, id)? else { return Ok(Claim::Gone) };
    let cut_off = RunEnd { outcome: Outcome::CutOff, note: None };
    // The caller has the lock, so the process of such a run is gone.
    row::open_runs(transaction, id)?.into_iter().try_for_each(|run| row::end_run(transaction, run, &cut_off, now))?;
    let due = match job.next {
        Some(due) if due <= now && !job.is_paused => due,
        None => {
            row::remove(transaction, id)?;
            return Ok(Claim::Gone);
        }
        Some(_) => return Ok(Claim::Nothing),
    };
    let is_repeated = job.spec.delivery == Delivery::AtLeastOnce && row::was_cut_off(transaction, id, due)?;
    let is_missed = due.as_second() + LATE_SECONDS < since.as_second();
    let run = DueRun { id: row::begin_run(transaction, &job, due, now)?, due, started: now, job };
    if is_missed && !is_repeated && run.job.spec.missed == Missed::Skip {
        row::end_run(transaction, run.id, &RunEnd { outcome: Outcome::Skipped, note: None }, now)?;
        return Ok(if advance(transaction, &run, id)? { Claim::Nothing } else { Claim::Gone });
    }
    if run.job.spec.delivery == Delivery::AtMostOnce {
        row::set_next(transaction, id, following(&run)?)?;
    }
    Ok(Claim::Run(Box::new(run)))
}

/// Returns the due time after a run. Those that passed until the run began are left out.
fn following(run: &DueRun) -> Result<Option<Timestamp>, CronError> {
    run.job.spec.next_after(run.due.max(run.started))
}

/// Sets the due time after a run. Removes the job and returns false if there is none.
fn advance(transaction: &Transaction<'_>, run: &DueRun, job: i64) -> Result<bool, CronError> {
    let next = following(run)?;
    match next {
        Some(_) => row::set_next(transaction, job, next)?,
        None => row::remove(transaction, job)?,
    }
    Ok(next.is_some())
}
